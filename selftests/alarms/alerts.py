#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Let Prometheus and node_exporter read the metrics of a fabric during faults. Prints TAP.

Each alert must fire within the scrape interval of the package, 15 seconds, and clear after repair.
The programs here scrape more often, because an emulated processor is slow.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "selftests", "plan"))

import place    # noqa: E402

RULES = os.path.join(TOP, "tools/packaging/morph-alerts.yaml")
INTERVAL_S = 15
START_S = 120
EXPORTER, PROMETHEUS = "127.0.0.1:9100", "127.0.0.1:9090"
CONFIGURATION = """
global: {{scrape_interval: 2s, evaluation_interval: 2s}}
rule_files: [{rules}]
scrape_configs:
- job_name: node
  static_configs: [{{targets: ["{exporter}"]}}]
"""


class Monitor:
    """A writer of metrics, node_exporter and Prometheus."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory()
        self.programs, self.ended, self.prefix = [], threading.Event(), []
        self.writer = threading.Thread(target=self.write_metrics)

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def write_metrics(self):
        """The work of morph-metrics.timer."""
        while not self.ended.wait(1):
            subprocess.run([*self.prefix, place.MORPHCTL, "metrics", self.path("collector/morph.prom")], check=True)

    def start(self, *words):
        with open(self.path(words[0] + ".log"), "w", encoding="utf-8") as log:
            # pylint: disable-next=consider-using-with
            self.programs.append(subprocess.Popen(words, stdout=log, stderr=log))

    def __enter__(self):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        os.mkdir(self.path("collector"))
        with open(self.path("prometheus.yml"), "w", encoding="ascii") as file:
            file.write(CONFIGURATION.format(rules=RULES, exporter=EXPORTER))
        self.start("prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
                   f"--collector.textfile.directory={self.path('collector')}", "--collector.hwmon",
                   f"--web.listen-address={EXPORTER}")
        self.start("prometheus", f"--config.file={self.path('prometheus.yml')}",
                   f"--storage.tsdb.path={self.path('data')}", f"--web.listen-address={PROMETHEUS}")
        self.writer.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.writer.join()
        for program in self.programs:
            program.terminate()
            program.wait()
        self.directory.cleanup()

    @staticmethod
    def ask(path):
        with urllib.request.urlopen(f"http://{PROMETHEUS}/api/v1/{path}", timeout=10) as answer:
            return json.load(answer)["data"]

    def value(self, query):
        found = self.ask("query?query=" + urllib.request.quote(query))["result"]
        return [float(one["value"][1]) for one in found]

    def firing(self):
        return sorted({one["labels"]["alertname"] for one in self.ask("alerts")["alerts"] if one["state"] == "firing"})

    def logs(self):
        texts = {}
        for name in os.listdir(self.directory.name):
            if name.endswith(".log"):
                with open(self.path(name), encoding="utf-8") as file:
                    texts[name] = file.read()[-2000:]
        return texts

    def await_start(self):
        until = time.monotonic() + START_S
        while True:
            try:
                if self.value("morph_up") == [1]:
                    return
            except (urllib.error.URLError, OSError):
                pass
            assert time.monotonic() < until, self.logs()
            time.sleep(0.5)

    def await_alerts(self, *wanted):
        """Wait until exactly these alerts fire; return the seconds."""
        started = time.monotonic()
        while self.firing() != sorted(wanted):
            assert time.monotonic() < started + INTERVAL_S, (wanted, self.firing())
            time.sleep(0.2)
        return time.monotonic() - started

    def check(self, *alerts):
        """These alerts must fire in time."""
        print(f"# {', '.join(alerts) or 'no alert'}: after {self.await_alerts(*alerts):.1f} s", flush=True)


MONITOR = Monitor()


def metrics_are_scraped(fabric):
    MONITOR.await_start()
    MONITOR.check()
    assert MONITOR.value(f'morph_accelerators{{fabric="{fabric.name}"}}') == [10]
    assert MONITOR.value("node_textfile_scrape_error") == [0]
    sensors = MONITOR.value('node_hwmon_temp_celsius{chip=~".*morph.*"}')
    assert len(sensors) == 1 and 20 < sensors[0] < 80, sensors


def failed_part_has_an_alert(fabric):
    fabric.fault("accelerator_dead 1")
    MONITOR.check("MorphPartsFailed")
    fabric.fault()
    MONITOR.check()


def degraded_slice_has_an_alert(fabric):
    fabric.do("slice", "create", "train", "--count", 2, "--failover", "none")
    fabric.do("circuit", "add", "train", 0, 1)
    fabric.fault(f"accelerator_dead {fabric.ask('slice', 'show', 'train')['ranks'][1]['accelerator']}")
    MONITOR.check("MorphPartsFailed", "MorphSliceDegraded")
    fabric.fault()
    MONITOR.check()
    fabric.end("train")


def slice_without_spares_has_an_alert(fabric):
    fabric.do("slice", "create", "train", "--count", 2)
    fabric.do("circuit", "add", "train", 0, 1)
    MONITOR.check()
    for chip in fabric.ask("accelerator", "list"):
        if chip["use"] == "spare":
            fabric.fault(f"accelerator_dead {chip['id']}")
    MONITOR.check("MorphNoProtection", "MorphPartsFailed")
    fabric.fault()
    MONITOR.check()
    fabric.end("train")


def lost_slice_has_an_alert(fabric):
    fabric.do("slice", "create", "train", "--count", 2)
    MONITOR.check()
    until = time.monotonic() + INTERVAL_S
    while MONITOR.value("morph_slices") != [1]:
        assert time.monotonic() < until, MONITOR.value("morph_slices")
        time.sleep(0.2)
    fabric.write("live", "0")
    # It was the only fabric of this machine.
    MONITOR.check("MorphSliceLost", "MorphDriverSilent")
    fabric.write("live", "1")
    MONITOR.check()


def silent_driver_has_an_alert(_):
    MONITOR.prefix = ["unshare", "--net"]       # the driver answers in the initial namespace only
    MONITOR.check("MorphDriverSilent")
    MONITOR.prefix = []
    MONITOR.check()


TESTS = (metrics_are_scraped, failed_part_has_an_alert, degraded_slice_has_an_alert,
         slice_without_spares_has_an_alert, lost_slice_has_an_alert, silent_driver_has_an_alert)

if __name__ == "__main__":
    with MONITOR:
        STATUS = place.run(TESTS, "server8")
    sys.exit(STATUS)
