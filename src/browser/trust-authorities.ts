import { dlopen, FFIType, type Pointer, ptr } from 'bun:ffi'
import { X509Certificate } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../core/error.ts'

/**
 * The library from which Chromium on Linux reads additional certificate authorities. Chromium requires this library.
 */
const LIBRARY = 'libnss3.so'

const { ptr: pointer, i32, cstring } = FFIType
const FUNCTIONS = {
  NSS_InitReadWrite: { args: [cstring], returns: i32 },
  NSS_Shutdown: { args: [], returns: i32 },
  CERT_GetDefaultCertDB: { args: [], returns: pointer },
  CERT_NewTempCertificate: { args: [pointer, pointer, pointer, i32, i32], returns: pointer },
  CERT_DecodeTrustString: { args: [pointer, cstring], returns: i32 },
  CERT_ChangeCertTrust: { args: [pointer, pointer, pointer], returns: i32 },
  CERT_DestroyCertificate: { args: [pointer], returns: FFIType.void },
  PK11_GetInternalKeySlot: { args: [], returns: pointer },
  PK11_InitPin: { args: [pointer, pointer, pointer], returns: i32 },
  PK11_ImportCert: { args: [pointer, pointer, FFIType.u64, cstring, i32], returns: i32 },
  PK11_FreeSlot: { args: [pointer], returns: FFIType.void },
} as const

type Nss = ReturnType<typeof dlopen<typeof FUNCTIONS>>['symbols']

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/**
 * Makes a Chromium on Linux trust additional certificate authorities through the NSS database in its home folder. Must
 * be called before Chromium starts. When the database can't be created, throws an error whose message has no full stop.
 * @param home the `HOME` folder of Chromium
 * @param pem certificates of authorities or of single servers; when empty, nothing is done
 */
export function trustIn(home: string, pem: string): void {
  if (pem === '') return
  try {
    const folder = join(home, '.pki', 'nssdb')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    using library = openLibrary()
    trustAll(library.nss, folder, pem.match(CERTIFICATE) ?? [])
  } catch (error) {
    throw new Error(`Chromium could not load the certificates in TAGWARDEN_OUTBOUND_CA: ${messageOf(error)}`)
  }
}

function openLibrary() {
  try {
    const { symbols, close } = dlopen(LIBRARY, FUNCTIONS)
    return { nss: symbols, [Symbol.dispose]: close }
  } catch {
    throw new Error(`there is no ${LIBRARY} (package "libnss3") on this server`)
  }
}

function trustAll(nss: Nss, folder: string, certificates: readonly string[]): void {
  require(nss.NSS_InitReadWrite(text(`sql:${folder}`)), 'its database could not be created')
  try {
    const slot = required(nss.PK11_GetInternalKeySlot(), 'its database could not be opened')
    try {
      require(nss.PK11_InitPin(slot, null, null), 'its database could not be opened for writing')
      for (const [index, certificate] of certificates.entries()) trust(nss, slot, certificate, index)
    } finally {
      nss.PK11_FreeSlot(slot)
    }
  } finally {
    nss.NSS_Shutdown()
  }
}

function trust(nss: Nss, slot: Pointer, pem: string, index: number): void {
  const { raw, ca } = new X509Certificate(pem)
  const name = text(`authority ${index + 1}`)
  const what = `certificate ${index + 1} could not be`
  const database = nss.CERT_GetDefaultCertDB()
  // Fields of a SECItem: kind, bytes, length.
  const item = new BigUint64Array([0n, BigInt(ptr(raw)), BigInt(raw.length)])
  const certificate = required(nss.CERT_NewTempCertificate(database, item, null, 0, 1), `${what} read`)
  try {
    require(nss.PK11_ImportCert(slot, certificate, 0, name, 0), `${what} stored`)
    // CERTCertTrust contains flags for servers, mail and code. An authority may sign other certificates. A server's own
    // certificate is trusted directly.
    const flags = new Uint32Array(3)
    require(nss.CERT_DecodeTrustString(flags, text(ca ? 'C,,' : 'P,,')), `${what} trusted`)
    require(nss.CERT_ChangeCertTrust(database, certificate, flags), `${what} trusted`)
  } finally {
    nss.CERT_DestroyCertificate(certificate)
  }
}

const text = (value: string) => Buffer.from(`${value}\0`)

function require(status: number, fault: string): void {
  if (status !== 0) throw new Error(fault)
}

function required(found: Pointer | bigint | null, fault: string): Pointer {
  if (typeof found !== 'number') throw new Error(fault)
  return found
}
