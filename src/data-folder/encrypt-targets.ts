import type { Channel } from '../alerts/alert.ts'
import { sealTarget } from '../alerts/channel-target.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { type Db, tx } from '../store/database.ts'

const TASK = 'sealTargets'

/** Columns to seal: SQL of the rows that may have a URL, and of the sealed value. */
const COLUMNS = [
  ['alert', 'input', `input LIKE '%"channels"%://%'`, 'sealJson(input)'],
  ['flowTest', 'settings', `settings LIKE '%"channels"%://%'`, 'sealJson(settings)'],
  ['audit', 'input', `input LIKE '%"channels"%://%'`, 'sealJson(input)'],
  ['issue', 'channels', `channels LIKE '%://%'`, 'sealJson(channels)'],
  ['issueHistory', 'payload', `payload LIKE '%"channel"%://%'`, 'sealJson(payload)'],
  ['integration', 'config', `config LIKE '%"url"%://%'`, 'sealJson(config)'],
  ['issueMemory', 'channelTarget', `channelTarget LIKE '%://%'`, 'sealTarget(channelTarget)'],
  // These name targets: `iss_…:opened:7:webhook:https://…`
  ['delivery', 'noticeKey', `noticeKey LIKE '%://%'`, 'sealKey(noticeKey)'],
  ['delivery', 'transitionKey', `transitionKey LIKE '%://%'`, 'sealKey(transitionKey)'],
  ['delivery', 'channelTarget', `channelTarget LIKE '%://%'`, 'sealTarget(channelTarget)'],
] as const

/**
 * Seals the targets of channels and the URLs of integrations that an earlier version stored, and overwrites the old bytes,
 * also in the log of the database. Does nothing after the first time.
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
  // Only compared, so what it is made of need not be known.
  db.function('sealKey', (key) => `sealed:${box.sealEqually(String(key)).toString('base64url')}`)
}

interface WithTargets {
  /** Of an integration. */
  url?: string
  channels?: Channel[]
  channel?: Channel
}

/** Returns the JSON of a list of channels, or of an object with `channels`, a `channel` or a `url`, with sealed targets. */
function sealedJson(box: SecretBox, json: string): string {
  const sealed = (channel: Channel): Channel => ({ ...channel, target: sealTarget(box, channel.target) })
  try {
    const value: Channel[] | WithTargets = JSON.parse(json)
    if (Array.isArray(value)) return JSON.stringify(value.map(sealed))
    const { channels, channel, url } = value
    return JSON.stringify({
      ...value,
      ...(channels ? { channels: channels.map(sealed) } : {}),
      ...(channel ? { channel: sealed(channel) } : {}),
      ...(url ? { url: sealTarget(box, url) } : {}),
    })
  } catch {
    // A damaged row must not prevent the start.
    return json
  }
}
