import type { StoredPart } from '../warehouse.ts'
import { type Manifest, type ManifestFile, spanOf } from './manifest.ts'

/** All files that the manifest knows, damaged ones too. */
export function storedParts(manifest: Manifest): StoredPart[] {
  return [
    ...manifest.present().map((file) => partOf(file, false)),
    ...manifest.damaged().map(({ file }) => partOf(file, true)),
  ]
}

function partOf(file: ManifestFile, isDamaged: boolean): StoredPart {
  const { path: name, orgId, rows, sizeBytes: bytes } = file
  const { first: firstAt, last: lastAt } = spanOf(file)
  return { name, kind: kindOf(file), orgId, firstAt, lastAt, rows, bytes, isDamaged }
}

function kindOf(file: ManifestFile): StoredPart['kind'] {
  if ('minMinute' in file) return 'counts'
  return 'maxSeq' in file ? 'events' : 'pages'
}
