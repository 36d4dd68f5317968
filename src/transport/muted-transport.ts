import { AppError } from '../core/error.ts'
import type { QuietState } from '../store/folder-mark.ts'
import type { Transport } from './transport.ts'

const MESSAGE = 'nothing was sent, because this server is quiet: its data folder was copied or restored'

/** Returns a transport that sends nothing while `quiet` returns a state. */
export function mutedTransport(transport: Transport, quiet: () => QuietState | null): Transport {
  const { openSocket } = transport
  return {
    async send(outbound, signal) {
      if (quiet()) return { kind: 'error', message: MESSAGE, permanent: false }
      return transport.send(outbound, signal)
    },
    ...(openSocket && {
      async openSocket(url, signal) {
        if (quiet()) throw new AppError('unavailable', MESSAGE)
        return openSocket(url, signal)
      },
    }),
  }
}
