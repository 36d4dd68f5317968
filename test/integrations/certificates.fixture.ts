import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const openssl = Bun.which('openssl')

/** True when certificates can be created on this machine. */
export const canCertify = openssl !== null

/**
 * A certificate authority that no system trusts, and a certificate signed by it. The files are deleted at the end of
 * the block.
 */
export interface PrivateAuthority extends Disposable {
  /**
   * Returns the path of a file in its folder. `ca.pem` is the authority's own certificate; the file `names` contains no
   * certificate.
   */
  file(name: string): string
  ca: string
  key: string
  cert: string
}

/** @param names names of the certificate in openssl format: `IP:127.0.0.1,DNS:shop.test` */
export function privateAuthority(names = 'IP:127.0.0.1'): PrivateAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'tagwarden-authority-'))
  const file = (name: string) => join(folder, name)
  const run = (...words: string[]) => {
    const { exitCode, stderr } = Bun.spawnSync([openssl ?? '', ...words])
    if (exitCode !== 0) throw new Error(stderr.toString())
  }
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  run('req', '-x509', '-days', '2', ...ec, '-keyout', file('ca.key'), '-out', file('ca.pem'), '-subj', '/CN=Our own')
  run('req', ...ec, '-keyout', file('key.pem'), '-out', file('request.pem'), '-subj', '/CN=inside')
  writeFileSync(file('names'), `subjectAltName=${names}`)
  const signed = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial', '-extfile', file('names')]
  run('x509', '-req', '-days', '2', '-in', file('request.pem'), ...signed, '-out', file('cert.pem'))
  const read = (name: string) => readFileSync(file(name), 'utf8')
  return {
    file,
    ca: read('ca.pem'),
    key: read('key.pem'),
    cert: read('cert.pem'),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}
