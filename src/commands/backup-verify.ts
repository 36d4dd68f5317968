import { type CheckedBackup, checkBackup } from '../backups/check-backup.ts'
import { locateBackups } from '../backups/open-place.ts'
import { countText, sizeText } from '../core/text.ts'
import { type Command, UsageError } from './command.ts'

export const backupVerify: Command = {
  name: 'backup verify',
  operands: 'DIR|s3://…',
  summary:
    'Compares every file of one backup, or of all backups in a place, with its checksum. Exits with 1 if a file is damaged.',
  flags: {
    json: { type: 'boolean', meaning: 'Print {backups: [{name, files, bytes, faults: [{path, fault}]}]} as JSON' },
  },
  async run({ names, flags, env }) {
    const [address, ...others] = names
    if (address === undefined || others.length > 0)
      throw new UsageError('backup verify: give one folder or s3:// address')
    const checked = new Set<string>()
    const results: CheckedBackup[] = []
    for (const { place, name } of await locateBackups(address, env)) {
      const result = await checkBackup(place, name, checked)
      results.push(result)
      if (!flags.json) console.log(linesOf(result).join('\n'))
    }
    if (flags.json) console.log(JSON.stringify({ backups: results.map(jsonOf) }))
    return results.some(({ faults }) => faults.length > 0) ? 1 : 0
  },
}

function linesOf(result: CheckedBackup): string[] {
  const { name, faults } = result
  if (faults.length > 0) return faults.map(({ fault }) => `WRONG ${name}: ${fault}`)
  const { files, bytes } = jsonOf(result)
  return [`ok    ${name}: ${countText(files)} files, ${sizeText(bytes)}`]
}

function jsonOf({ name, manifest, faults }: CheckedBackup) {
  const files = manifest?.files ?? []
  return { name, files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), faults }
}
