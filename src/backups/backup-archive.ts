import { createTarPacker } from 'modern-tar'
import { type BackupManifest, CHECKSUM_FILE, MANIFEST_FILE, writeManifest } from './backup-manifest.ts'
import type { BackupPlace } from './backup-place.ts'

/** Returns a backup as a tar archive with one folder, from which `restore` can read it once it is unpacked. */
export function backupArchive(place: BackupPlace, manifest: BackupManifest): ReadableStream<Uint8Array> {
  const { readable, controller } = createTarPacker()
  const { name, createdAt, files } = manifest
  const add = async (path: string, bytes: number, at: number, chunks: AsyncIterable<Uint8Array>) => {
    const header = { name: `${name}/${path}`, size: bytes, mode: 0o600, mtime: new Date(at) }
    const writer = controller.add(header).getWriter()
    for await (const chunk of chunks) await writer.write(chunk)
    await writer.close()
  }
  const pack = async () => {
    const { json, checksum } = writeManifest(manifest)
    for (const [path, text] of [
      [MANIFEST_FILE, json],
      [CHECKSUM_FILE, checksum],
    ] as const) {
      const bytes = Buffer.from(text)
      await add(path, bytes.length, createdAt, oneChunk(bytes))
    }
    for (const file of files) await add(file.path, file.bytes, file.modifiedAt, place.read(name, file))
    controller.finalize()
  }
  // The caller sees an interrupted download.
  pack().catch((error: unknown) => controller.error(error))
  return readable
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
