import { backupStatus } from '../../backups/backup-schedule.ts'
import { lagOf, listCollectors, statusOf } from '../../collectors/store.ts'
import type { Config } from '../../config.ts'
import { buildInfo } from '../../core/build-info.ts'
import { CLOCK_STEP_MS, type Instant, MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import { countText, sizeText, timeText } from '../../core/text.ts'
import { type Finding, good, note, wrong } from '../../data-folder/examine-folder.ts'
import { MAX_WAIT_MS } from '../../health/readiness.ts'
import type { RecordedState } from '../../health/recorded-state.ts'
import type { Db } from '../../store/database.ts'
import type { ServerAnswer } from './ask-server.ts'

/** Checks whether the running server answers. `answer` is null if none is running. */
export function checkServer(answer: ServerAnswer | null): Finding {
  if (answer === null) return good('server', 'not running')
  if (answer.kind === 'ready') return good('server', 'running and ready')
  if (answer.kind === 'not ready') return wrong('server', `running but not ready: ${answer.reason}`)
  return note(
    'server',
    `running, but does not answer at ${answer.url} (${answer.reason}); pass its address with --listen or TAGWARDEN_LISTEN`,
  )
}

/** Checks that events are moved and alerts are evaluated. */
export function checkWork(
  { heartbeatAt, flushedAt, evaluatedTo, due }: RecordedState,
  answer: ServerAnswer | null,
  now: Instant,
): Finding[] {
  const flushed = flushedAt === null ? 'no events have been moved yet' : `events were last moved ${timeText(flushedAt)}`
  const evaluated = evaluatedTo === null ? 'no alert is enabled' : `alerts are evaluated up to ${timeText(evaluatedTo)}`
  if (answer === null) return [good('flush', flushed), good('evaluation', evaluated)]
  if (answer.kind === 'ready') {
    const { lastFlushAgeMs, lastEvaluationAgeMs } = answer
    const waiting = due.since === null ? '' : `; alerts that are due: ${countText(due.count)}`
    return [
      ageFinding('flush', lastFlushAgeMs, flushed),
      ageFinding('evaluation', lastEvaluationAgeMs, `${evaluated}${waiting}`),
    ]
  }
  const isHanging = heartbeatAt !== null && now - heartbeatAt > MAX_WAIT_MS
  if (!isHanging) return [good('flush', flushed), good('evaluation', evaluated)]
  const stopped = `the server has done nothing since ${timeText(heartbeatAt)}; see its log, and restart it`
  return [wrong('flush', `${flushed}; ${stopped}`), wrong('evaluation', `${evaluated}; ${stopped}`)]
}

function ageFinding(check: string, ageMs: number | null, says: string): Finding {
  if (ageMs === null) return note(check, `none since the server started; ${says}`)
  const run = `last run ${Math.round(ageMs / SECOND_MS)} s ago; ${says}`
  return ageMs > MAX_WAIT_MS ? wrong(check, `${run}; see the server's log for failed jobs`) : good(check, run)
}

/** Checks the notifications of the last 24 h. Contains no targets and no texts. */
export function checkDeliveries({ failing }: RecordedState): Finding {
  if (failing.length === 0) return good('deliveries', 'no notification has failed in the last 24 hours')
  const parts = failing.map(
    ({ channelType, failed, retrying }) =>
      `${channelType}: ${countText(failed)} failed, ${countText(retrying)} waiting for a retry`,
  )
  return note('deliveries', `${parts.join('; ')}. The reasons are on the page Deliveries`)
}

/** The age of the last backup is not an error, because backups can also be made by other programs. */
export function checkBackup(db: Db, { backupTo, backupSchedule }: Config, now: Instant): Finding {
  const { state, lastSuccess, lastEnded } = backupStatus(db, backupTo === '' ? null : backupSchedule, now)
  const last = lastSuccess ? `the last backup is of ${timeText(lastSuccess.startedAt)}` : 'there is no backup'
  if (state === 'failed') return note('backup', `${last}; the most recent attempt failed: ${lastEnded?.error}`)
  if (state === 'stale') return note('backup', `${last}; later ones are missing`)
  return state === 'none'
    ? note('backup', `${last}; run "tagwarden backup", or set TAGWARDEN_BACKUP_TO`)
    : good('backup', last)
}

/** Checks the collectors: one finding for each. Names are in quotes, so that support bundles replace them. */
export function checkCollectors(db: Db): Finding[] {
  return listCollectors(db).map((collector) => {
    const { name, seenAt, version, diskBytes, freeBytes } = collector
    if (seenAt === null)
      return note('collectors', `"${name}" has never been in contact; check that it runs with its token`)
    const facts = [
      `last contact ${timeText(seenAt)}`,
      `version ${version}`,
      `lag ${Math.round((lagOf(collector) ?? 0) / SECOND_MS)} s`,
      `waiting events ${sizeText(diskBytes ?? 0)}`,
      ...(freeBytes === null ? [] : [`free disk space ${sizeText(freeBytes)}`]),
    ].join(', ')
    if (statusOf(collector) === 'away')
      return note(
        'collectors',
        `"${name}" is away: ${facts}. Alerts are evaluated without its events until it has stored them`,
      )
    if (version !== buildInfo.version)
      return note(
        'collectors',
        `"${name}" has another version than this server (${buildInfo.version}): ${facts}; upgrade both to the same version`,
      )
    return good('collectors', `"${name}" is connected: ${facts}`)
  })
}

/** The clock of another machine, or of browsers. */
export interface ComparedClock {
  /** Owner of the clock: `the mail server`. */
  of: string
  /** That clock minus this one. */
  offsetMs: number
}

/** Larger differences make sign-ins with codes or tokens fail. */
const MAX_OFFSET_MS = 30 * SECOND_MS

/** Checks the clock against stored times and other clocks. `state` is null if the database can't be read. */
export function checkClock(state: RecordedState | null, clocks: readonly ComparedClock[], now: Instant): Finding {
  const latestAt = Math.max(state?.clockStep?.latestAt ?? 0, state?.heartbeatAt ?? 0)
  const set = 'set the clock of this machine with NTP'
  if (latestAt - now > CLOCK_STEP_MS)
    return wrong(
      'clock',
      `it shows ${timeText(now)}, but the server was already running at ${timeText(latestAt)}; ${set}`,
    )
  if (clocks.length === 0)
    return good(
      'clock',
      'not earlier than stored times. No other clock to compare with: no configured server stated its time',
    )
  const compared = clocks.map(({ of, offsetMs }) => `${of} (${offsetText(offsetMs)})`).join(', ')
  const isOff = clocks.some(({ offsetMs }) => Math.abs(offsetMs) > MAX_OFFSET_MS)
  return isOff
    ? wrong('clock', `it differs from others by more than ${MAX_OFFSET_MS / SECOND_MS} s: ${compared}; ${set}`)
    : good('clock', `compared with ${compared}`)
}

function offsetText(ms: number): string {
  const abs = Math.abs(ms)
  const size = abs < 2 * MINUTE_MS ? `${(abs / SECOND_MS).toFixed(0)} s` : `${(abs / MINUTE_MS).toFixed(0)} min`
  return ms < 0 ? `${size} behind this clock` : `${size} ahead of this clock`
}
