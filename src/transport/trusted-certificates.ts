import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { getCACertificates } from 'node:tls'
import { AppError } from '../core/error.ts'

/** Returns the system's trusted certificates together with those in `ca`, as PEM. */
export function trustedWith(ca: string): string[] {
  return [...getCACertificates('default'), ca]
}

/**
 * Returns the certificates in a PEM file, without the text between them. Throws `invalid` with the path when the file
 * is missing, contains no certificate, or contains an invalid one.
 */
export function readCertificates(path: string): string {
  const fault = (what: string) => new AppError('invalid', `${path} ${what}`)
  if (!existsSync(path)) throw fault('does not exist')
  const text = readFileSync(path, 'utf8')
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0) throw fault('contains no certificate')
  for (const [index, block] of blocks.entries())
    if (!isCertificate(block)) throw fault(`contains an invalid certificate (number ${index + 1})`)
  return blocks.join('\n')
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
