import { expect, test } from 'bun:test'
import { plainEvent } from '../core/event.fixture.ts'
import { type Meter, OutOfTime } from './evaluation-time-limit.ts'
import { RuleSet } from './rule-set.ts'

test.each(['contains_phone', 'contains_email'] as const)(
  '%s checks the time limit for each of many short values',
  (op) => {
    const set = new RuleSet()
    set.set('alr_1', { conditions: { logic: 'any', items: [{ parameter: '*', op }] } })
    const params = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`p${n}`, `${n} +1234567 a@b `]))
    let calls = 0
    const meter: Meter = {
      check() {
        if (++calls > 100) throw new OutOfTime()
      },
    }
    expect(set.brokenBy(plainEvent({ params }), meter)).toBeNull()
  },
)
