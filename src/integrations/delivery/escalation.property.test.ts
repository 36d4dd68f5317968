import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { MINUTE_MS } from '../../core/clock.ts'
import type { IssueStatus } from '../../issues/issue.ts'
import { RESOLUTION_DELAY_MS } from '../../issues/transition-issue.ts'
import { escalationFixture, stepsAt } from './escalation.fixture.ts'

type Move =
  | { do: 'wait'; minutes: number; isRunning: boolean }
  | { do: 'set'; status: Exclude<IssueStatus, 'open'> }
  | { do: 'reopen' }

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      minutes: fc.integer({ min: 1, max: 40 }),
      isRunning: fc.constantFrom(true, true, false),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('set' as const),
      status: fc.constantFrom('acknowledged' as const, 'resolved' as const, 'muted' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
)

const minutesOfSteps = fc
  .uniqueArray(fc.integer({ min: 1, max: 90 }), { maxLength: 5 })
  .map((minutes) => minutes.toSorted((one, other) => one - other))

/** A simple model: the opening, its status, and the steps sent since. */
interface Model {
  openedAt: number
  status: IssueStatus
  sent: number[]
  lastSentAt: number
  /** Minute at which recipients are notified that the issue is resolved, possibly in the future; null if they are not. */
  resolutionToldAt: number | null
}

/** Updates the model after a manual change of the status. */
function setStatus(model: Model, status: IssueStatus, now: number): void {
  const toldAt = model.resolutionToldAt !== null && model.resolutionToldAt <= now ? model.resolutionToldAt : null
  model.status = status
  model.resolutionToldAt = status === 'resolved' ? (toldAt ?? now + RESOLUTION_DELAY_MS / MINUTE_MS) : toldAt
}

/** The step that has to be sent at this minute. */
function dueStep({ openedAt, status, sent, lastSentAt }: Model, steps: readonly number[], now: number) {
  const next = steps.find((minutes) => minutes > (sent.at(-1) ?? 0))
  return status === 'open' && next !== undefined && openedAt + next <= now && now > lastSentAt ? next : null
}

test('each step is sent once per opening, while the issue is open, as soon as it is due', async () => {
  await fc.assert(
    fc.asyncProperty(minutesOfSteps, fc.array(move, { maxLength: 25 }), async (steps, moves) => {
      const { clock, start, open, opening, byHand, escalate, sent } = escalationFixture({
        escalation: { steps: stepsAt(...steps) },
      })
      open()
      const model: Model = { openedAt: 0, status: 'open', sent: [], lastSentAt: -1, resolutionToldAt: null }
      const expected: string[] = []
      const now = () => (clock.now() - start) / MINUTE_MS
      const run = async () => {
        await escalate()
        const due = dueStep(model, steps, now())
        if (due === null) return
        model.sent.push(due)
        model.lastSentAt = now()
        expected.push(`${due}@${now()}`)
      }
      for (const one of moves) {
        if (one.do === 'set') {
          // A resolved or muted issue cannot be acknowledged.
          const isAllowed = one.status !== 'acknowledged' || model.status === 'open'
          if (isAllowed) byHand(one.status)
          if (isAllowed) setStatus(model, one.status, now())
        } else if (one.do === 'reopen' && model.status !== 'open') {
          const { status } = model
          if (status === 'resolved') opening('reopened')
          else byHand('open')
          // The end of a mute is an opening only for recipients who consider the issue resolved.
          const isOpening = status !== 'muted' || (model.resolutionToldAt ?? Number.POSITIVE_INFINITY) <= now()
          Object.assign(model, { status: 'open', resolutionToldAt: null })
          if (isOpening) Object.assign(model, { openedAt: now(), sent: [], lastSentAt: -1 })
        } else if (one.do === 'wait') {
          for (let minute = 0; minute < one.minutes; minute++) {
            clock.advance(MINUTE_MS)
            if (one.isRunning) await run()
          }
        }
      }
      await run()
      expect(sent()).toEqual(expected)
    }),
    { numRuns: 150 },
  )
})
