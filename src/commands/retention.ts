import { systemClock } from '../core/clock.ts'
import { confirmDeletions, waitingDeletionTexts } from '../data-folder/waiting-deletions.ts'
import { waitingLimits } from '../store/retention-limits.ts'
import type { Command } from './command.ts'
import { DATA_FLAG } from './command-line-settings.ts'
import { withDatabase } from './user.ts'

export const retention: Command = {
  name: 'retention',
  summary:
    'Lists shorter limits of stored data that wait for a day before they delete data, also while the server runs.',
  flags: {
    ...DATA_FLAG,
    confirm: { type: 'boolean', meaning: 'Apply them now. The server deletes the data within minutes' },
    json: {
      type: 'boolean',
      meaning: 'Print {confirmed, waiting: [{name, inForce, requested, appliesAt, says}]} as JSON',
    },
  },
  async run(invocation) {
    const confirmed = invocation.flags.confirm === true
    const waiting = await withDatabase(retention, invocation, (db) => {
      const says = waitingDeletionTexts(db)
      const limits = confirmed ? confirmDeletions(db, systemClock) : waitingLimits(db)
      return limits.map((limit, index) => ({ ...limit, says: says[index] ?? '' }))
    })
    if (invocation.flags.json) console.log(JSON.stringify({ confirmed, waiting }))
    else if (waiting.length === 0) console.log('No shorter limit is waiting.')
    else console.log(waiting.map(({ says }) => (confirmed ? `confirmed: ${says}` : says)).join('\n'))
    return 0
  },
}
