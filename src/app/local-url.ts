import type { Config } from '../config.ts'

const EVERYWHERE = new Set(['0.0.0.0', '::'])

/**
 * Returns the URL of a server with this listen address, as seen from this machine. A server that listens on all
 * addresses gets the machine's hostname.
 */
export function localUrlOf(listen: Config['listen']): string {
  const { hostname, port } = listen ?? { hostname: '127.0.0.1', port: 0 }
  if (EVERYWHERE.has(hostname)) return `http://localhost:${port}`
  return `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
}
