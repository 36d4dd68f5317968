import { crc32, deflateRawSync } from 'node:zlib'

/** A file in a ZIP archive. Its declared sizes may be wrong. */
export interface ZippedFile {
  name: string
  content: string | Uint8Array
  /** Unpacked size declared in the directory. By default, the actual size. */
  claimedBytes?: number
  /** Packed size declared in the directory. By default, the actual size. */
  claimedPackedBytes?: number
  isStored?: boolean
  isEncrypted?: boolean
}

const UTF8_NAMES = 0x800

/** Returns a ZIP archive: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT */
export function zipOf(files: readonly ZippedFile[], claimedEntries = files.length): Uint8Array {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const file of files) {
    const content = Buffer.from(file.content as string)
    const packed = file.isStored ? content : deflateRawSync(content)
    const name = Buffer.from(file.name)
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(UTF8_NAMES | (file.isEncrypted ? 1 : 0), 2)
    fields.writeUInt16LE(file.isStored ? 0 : 8, 4)
    fields.writeUInt32LE(crc32(content), 10)
    fields.writeUInt32LE(file.claimedPackedBytes ?? packed.length, 14)
    fields.writeUInt32LE(file.claimedBytes ?? content.length, 18)
    fields.writeUInt16LE(name.length, 22)
    const local = [Buffer.from('PK\u0003\u0004'), fields, name, packed]
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\u0001\u0002'), Buffer.from([20, 0]), fields, rest, name)
    parts.push(...local)
    offset += local.reduce((sum, part) => sum + part.length, 0)
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(claimedEntries, 4)
  end.writeUInt16LE(claimedEntries, 6)
  end.writeUInt32LE(size, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...parts, ...directory, Buffer.from('PK\u0005\u0006'), end])
}
