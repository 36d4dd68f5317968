import type { Config } from '../config.ts'

const EVERYWHERE = new Set(['0.0.0.0', '::'])

/** Where a server that listens here is reached from this machine; one that listens everywhere, by the machine's own name. */
export function ownUrlOf(listen: Config['listen']): string {
  const { hostname, port } = listen ?? { hostname: '127.0.0.1', port: 0 }
  if (EVERYWHERE.has(hostname)) return `http://localhost:${port}`
  return `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
}
