import { expect, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MINUTE_MS } from '../../core/clock.ts'
import { type Db, openDatabase } from '../../store/database.ts'
import { channelAfter, escalationFixture, stepsAt } from './escalation.fixture.ts'
import { hook } from './outbox.fixture.ts'

const PROCESS = join(import.meta.dir, 'escalation-process.fixture.ts')
const ISSUES = ['iss_1', 'iss_2']

/** Every step with its issue, as recorded in the history and as queued for each channel. */
function recordOf(db: Db) {
  const history = db
    .prepare<[], string>(
      `SELECT issueId || ' ' || (payload ->> '$.afterMinutes') FROM issueHistory WHERE kind = 'escalated' ORDER BY seq`,
    )
    .pluck()
    .all()
  const deliveries = db
    .prepare<[], string>(
      `SELECT issueId || ' ' || channelTarget FROM delivery WHERE escalationStep IS NOT NULL ORDER BY seq`,
    )
    .pluck()
    .all()
  return { history, deliveries }
}

/** Runs the process once. Returns the number of its steps; null if it was killed. */
async function runProcess(path: string, at: number, fatalStep: number): Promise<number | null> {
  const child = Bun.spawn([process.execPath, PROCESS, path, String(at), String(fatalStep)], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const printed = await new Response(child.stdout).text()
  await child.exited
  if (child.signalCode === 'SIGKILL') return null
  expect(child.exitCode).toBe(0)
  return Number(printed)
}

test('no step is lost or sent twice when the process is killed at any point', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tagwarden-'))
  try {
    const { db, open, clock } = escalationFixture({
      escalation: { steps: stepsAt(1, 2).map((step) => ({ ...step, channels: [...step.channels, hook] })) },
    })
    for (const id of ISSUES) open(id)
    const fresh = join(folder, 'fresh.db')
    writeFileSync(fresh, db.serialize())
    const first = clock.now() + MINUTE_MS
    const expected = (minutes: readonly number[]) => ({
      history: minutes.flatMap((after) => ISSUES.map((id) => `${id} ${after}`)),
      deliveries: minutes.flatMap((after) =>
        ISSUES.flatMap((id) => [`${id} ${channelAfter(after).target}`, `${id} ${hook.target}`]),
      ),
    })
    let kills = 0
    for (let fatalStep = 1; ; fatalStep++) {
      const path = join(folder, `${fatalStep}.db`)
      cpSync(fresh, path)
      const isKilled = (await runProcess(path, first, fatalStep)) === null
      if (!isKilled) break
      kills++
      await runProcess(path, first, 0)
      const restarted = openDatabase(path)
      expect([fatalStep, recordOf(restarted)]).toEqual([fatalStep, expected([1])])
      restarted.close()
      await runProcess(path, first + MINUTE_MS, 0)
      const later = openDatabase(path)
      expect([fatalStep, recordOf(later)]).toEqual([fatalStep, expected([1, 2])])
      later.close()
    }
    expect(kills).toBeGreaterThan(ISSUES.length * 3)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
