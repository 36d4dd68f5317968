import sys

from tagwarden import Tagwarden

tagwarden = Tagwarden(sys.argv[1], version=418, send_after_s=0.05, first_retry_s=0.02)
for line in sys.stdin:
    command, *numbers = line.split()
    if command == 'track':
        for order in range(int(numbers[0]), int(numbers[1])):
            tagwarden.track('Shop', 'purchase', status='ok', params={'order': order, 'note': 'ü "\n' * 20})
    if command == 'flush':
        tagwarden.flush()
    if command == 'close':
        tagwarden.close()
    print(command, flush=True)
    if command == 'close':
        break
