import { getCACertificates } from 'node:tls'

/** Certificates, PEM, that are trusted where `ca`, which may have several, is trusted beside what the system trusts. */
export function trustedWith(ca: string): string[] {
  return [...getCACertificates('default'), ca]
}
