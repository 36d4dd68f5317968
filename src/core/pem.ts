import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { AppError } from './error.ts'

/**
 * Returns the certificates of a PEM file, without what is written between them. Fails with `invalid`, naming the path, when
 * the file is missing, has none, or has one that can't be read.
 */
export function readCertificates(path: string): string {
  const fault = (what: string) => new AppError('invalid', `${path} ${what}`)
  if (!existsSync(path)) throw fault('is not there')
  const text = readFileSync(path, 'utf8')
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0) throw fault('has none')
  for (const [index, block] of blocks.entries())
    if (!isCertificate(block)) throw fault(`has none at place ${index + 1}`)
  return blocks.join('\n')
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
