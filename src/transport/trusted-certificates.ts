import { getCACertificates } from 'node:tls'

/** Returns the system's trusted certificates together with those in `ca`, as PEM. */
export function trustedWith(ca: string): string[] {
  return [...getCACertificates('default'), ca]
}
