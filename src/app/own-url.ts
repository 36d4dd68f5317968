import type { Config } from '../config.ts'

const EVERYWHERE = new Set(['0.0.0.0', '::'])

/**
 * Returns the address of a server that listens here, as seen from this machine; for one that listens on all addresses,
 * with the machine's own name.
 */
export function ownUrlOf(listen: Config['listen']): string {
  const { hostname, port } = listen ?? { hostname: '127.0.0.1', port: 0 }
  if (EVERYWHERE.has(hostname)) return `http://localhost:${port}`
  return `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
}
