"""Sends events from Python (3.8 or later) to Tagwarden. No dependencies.

    from tagwarden import Tagwarden
    tagwarden = Tagwarden('/var/spool/shop/tagwarden', version=418)
    tagwarden.track('Meta Pixel', 'Purchase', status='ok', params={'value': 59.9})
    tagwarden.close()  # when the process ends

Each event is appended to a file before it is sent, so no event is lost when the client or the server restarts. Each
process needs its own folder: with several workers, create the object after the fork. A batch is retried with the same
id until it is stored, and is counted only once within 24 hours.
"""

import gzip
import json
import logging
import os
import random
import threading
import time
import urllib.error
import urllib.request
import uuid

EVENTS_URL = "{{EVENTS_URL}}"
TOKEN = "{{TOKEN}}"

# The server accepts up to 1,000 events and 1 MiB per batch, before compression.
MAX_BATCH_EVENTS = 500
MAX_BATCH_BYTES = 512 * 1024
# Maximum queue size. When it is exceeded, the oldest batches are deleted.
MAX_QUEUE_BYTES = 50 * 1024 * 1024
REQUEST_TIMEOUT_S = 30
MAX_RETRY_S = 5 * 60
# Delay after a wrong token or URL, and maximum delay that the server can request.
HOUR_S = 60 * 60

log = logging.getLogger('tagwarden')


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


_opener = urllib.request.build_opener(_NoRedirect)


class Tagwarden:
    """Thread-safe. `env`: 'prod' or 'dev'. `version`: release number."""

    def __init__(self, folder, env='prod', version=None, send_after_s=5.0, first_retry_s=1.0):
        self._folder = folder
        self._head = json.dumps({'env': env, **({} if version is None else {'version': version})})
        self._send_after_s = send_after_s
        self._first_retry_s = first_retry_s
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._closed = threading.Event()
        self._open = None  # [id, events, bytes] of the batch to which events are appended
        self._last_id = 0
        self._failures = 0
        self._wait_until = 0.0
        os.makedirs(folder, exist_ok=True)
        for name in self._names('.open'):
            self._seal(name)
        self._thread = threading.Thread(target=self._run, name='tagwarden', daemon=True)
        self._thread.start()

    def track(self, vendor, event='', params=None, **fields):
        """Queues an event. `fields`: `account`, `status`, `execMs`. Never raises."""
        now = time.time_ns() // 1_000_000
        item = {'id': str(uuid.uuid4()), 'ts': now, 'vendor': vendor, 'event': event, 'params': params or {}, **fields}
        with self._lock:
            try:
                line = (json.dumps(item, allow_nan=False) + '\n').encode()
                if len(line) > MAX_BATCH_BYTES:
                    raise ValueError(f'an event is larger than {MAX_BATCH_BYTES} bytes')
                if self._open and self._open[2] + len(line) > MAX_BATCH_BYTES:
                    self._seal_open()
                if self._open is None:
                    # Batch ids sort by time.
                    self._last_id = max(now, self._last_id + 1)
                    self._open = [f'{self._last_id:015d}-{uuid.uuid4()}', 0, 0]
                if self._open[1] == 0:
                    line = self._head.encode() + b'\n' + line
                with open(os.path.join(self._folder, self._open[0] + '.open'), 'ab') as file:
                    file.write(line)
                self._open[1] += 1
                self._open[2] += len(line)
                if self._open[1] >= MAX_BATCH_EVENTS:
                    self._seal_open()
            except Exception as error:
                log.error('an event was lost: %s', error)
                # The event's line may be incomplete, so nothing must be appended to this file.
                self._seal_open()

    def flush(self):
        """Sends the queued events, unless the server requested a delay."""
        with self._lock:
            self._seal_open()
        with self._sending:
            try:
                for name in self._names('.batch'):
                    if time.monotonic() < self._wait_until or not self._post(name):
                        break
            except Exception as error:
                self._retry_after(0, str(error))

    def close(self):
        """Tries once to send the queued events. The remaining events are sent after the next start."""
        self._closed.set()
        self._thread.join()
        self.flush()

    def _run(self):
        while not self._closed.wait(max(self._send_after_s, self._wait_until - time.monotonic())):
            self.flush()

    def _post(self, name):
        """Returns False when the batch must be sent again later."""
        path = os.path.join(self._folder, name)
        with open(path, 'rb') as file:
            text = file.read()
        # A killed process can leave an incomplete line at the end.
        head, *events = text[: text.rfind(b'\n') + 1].split(b'\n')[:-1] or [b'']
        if not events:
            self._delete(path)
            return True
        own = json.dumps({'batchId': os.path.splitext(name)[0], 'sentAt': time.time_ns() // 1_000_000}).encode()
        body = own[:-1] + b',' + head[1:-1] + b',"events":[' + b','.join(events) + b']}'
        headers = {
            'Authorization': f'Bearer {TOKEN}',
            'Content-Type': 'application/json',
            'Content-Encoding': 'gzip',
        }
        request = urllib.request.Request(EVENTS_URL, gzip.compress(body), headers, method='POST')
        try:
            with _opener.open(request, timeout=REQUEST_TIMEOUT_S) as response:
                status, asked, answer = response.status, None, response.read()
        except urllib.error.HTTPError as error:
            with error:
                status, asked, answer = error.code, error.headers.get('Retry-After'), error.read()
        if status == 202:
            result = json.loads(answer)
            if result['rejected'] > 0:
                log.error('%s events were rejected: %s', result['rejected'], result['errors'])
        elif status in (400, 413, 415, 422):
            log.error('a batch of %s events was rejected: %s', len(events), answer.decode(errors='replace'))
        else:
            wait = HOUR_S if status in (401, 403, 404) else int(asked) if asked and asked.isdecimal() else 0
            self._retry_after(wait, f'the server responded with status {status}')
            return False
        self._failures = 0
        self._delete(path)
        return True

    def _retry_after(self, asked, reason):
        """Waits for the time that the server requested, or doubles the delay. Adds up to 50 % at random to spread retries."""
        backoff = min(MAX_RETRY_S, self._first_retry_s * 2 ** min(self._failures, 20))
        self._failures += 1
        wait = min(asked, HOUR_S) or backoff
        self._wait_until = time.monotonic() + wait * (1 + random.random() / 2)
        log.warning('sending again in %.0f s: %s', wait, reason)

    def _seal_open(self):
        if self._open is None:
            return
        name, self._open = self._open[0], None
        try:
            self._seal(name + '.open')
        except OSError as error:
            log.error('a batch will be sent after the next start: %s', error)

    def _seal(self, name):
        path = os.path.join(self._folder, name)
        os.replace(path, os.path.splitext(path)[0] + '.batch')
        batches = [os.path.join(self._folder, one) for one in self._names('.batch')]
        total = 0
        for batch in reversed(batches):
            try:
                total += os.path.getsize(batch)
            except FileNotFoundError:
                continue  # It has been sent.
            if total > MAX_QUEUE_BYTES:
                log.error('the queue is full, so its oldest batch was deleted')
                self._delete(batch)

    def _delete(self, path):
        try:
            os.remove(path)
        except FileNotFoundError:
            pass  # It has already been deleted because the queue was full.

    def _names(self, end):
        """Returns the oldest first."""
        return sorted(name for name in os.listdir(self._folder) if name.endswith(end))
