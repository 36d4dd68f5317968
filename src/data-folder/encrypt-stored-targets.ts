import type { AlertChannel } from '../alerts/alert.ts'
import { sealTarget } from '../alerts/encrypt-channel-target.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { type Db, tx } from '../store/database.ts'

const TASK = 'sealTargets'

/**
 * Columns to encrypt: table, column, SQL condition for rows that may contain a URL, and SQL for the encrypted value.
 */
const COLUMNS = [
  ['alert', 'input', `input LIKE '%"channels"%://%'`, 'sealJson(input)'],
  ['flowTest', 'settings', `settings LIKE '%"channels"%://%'`, 'sealJson(settings)'],
  ['audit', 'input', `input LIKE '%"channels"%://%'`, 'sealJson(input)'],
  ['issue', 'channels', `channels LIKE '%://%'`, 'sealJson(channels)'],
  ['issueHistory', 'payload', `payload LIKE '%"channel"%://%'`, 'sealJson(payload)'],
  ['integration', 'config', `config LIKE '%"url"%://%'`, 'sealJson(config)'],
  ['issueMemory', 'channelTarget', `channelTarget LIKE '%://%'`, 'sealTarget(channelTarget)'],
  // These keys contain targets: `iss_…:opened:7:webhook:https://…`
  ['delivery', 'noticeKey', `noticeKey LIKE '%://%'`, 'sealKey(noticeKey)'],
  ['delivery', 'transitionKey', `transitionKey LIKE '%://%'`, 'sealKey(transitionKey)'],
  ['delivery', 'channelTarget', `channelTarget LIKE '%://%'`, 'sealTarget(channelTarget)'],
] as const

/**
 * Encrypts channel targets and integration URLs that an earlier version stored in plain text. Overwrites the old bytes,
 * including those in the write-ahead log. Has no effect after the first run.
 */
export function sealStoredTargets(db: Db, box: SecretBox): void {
  const has = db.prepare('SELECT 1 FROM startTask WHERE name = ?')
  if (!has.get(TASK)) return
  db.pragma('secure_delete = ON')
  defineFunctions(db, box)
  tx(db, () => {
    for (const [table, column, meant, sealed] of COLUMNS) {
      db.exec(`UPDATE ${table} SET ${column} = ${sealed} WHERE ${meant}`)
    }
    db.prepare('DELETE FROM startTask WHERE name = ?').run(TASK)
  })
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.pragma('secure_delete = OFF')
}

function defineFunctions(db: Db, box: SecretBox): void {
  db.function('sealTarget', (target) => sealTarget(box, String(target)))
  db.function('sealJson', (json) => sealedJson(box, String(json)))
  // These keys are only compared for equality, so they don't have to be decrypted.
  db.function('sealKey', (key) => `sealed:${box.sealEqually(String(key)).toString('base64url')}`)
}

interface WithTargets {
  /** Set only for integrations. */
  url?: string
  channels?: AlertChannel[]
  channel?: AlertChannel
}

/**
 * Encrypts the targets in JSON that contains either a list of channels or an object with `channels`, a `channel` or a
 * `url`.
 */
function sealedJson(box: SecretBox, json: string): string {
  const sealed = (channel: AlertChannel): AlertChannel => ({ ...channel, target: sealTarget(box, channel.target) })
  try {
    const value: AlertChannel[] | WithTargets = JSON.parse(json)
    if (Array.isArray(value)) return JSON.stringify(value.map(sealed))
    const { channels, channel, url } = value
    return JSON.stringify({
      ...value,
      ...(channels ? { channels: channels.map(sealed) } : {}),
      ...(channel ? { channel: sealed(channel) } : {}),
      ...(url ? { url: sealTarget(box, url) } : {}),
    })
  } catch {
    // A damaged row must not prevent startup.
    return json
  }
}
