import { describe, expect, test } from 'bun:test'
import { OutOfTime } from '../conditions/evaluation-time-limit.ts'
import { TimeSlices } from './organization-time-quota.ts'

/** Returns time slices with a stopwatch that the test advances. */
function setUp() {
  let [wall, processor] = [1000, 0]
  const slices = new TimeSlices({ wallMs: () => wall, processorMs: () => processor })
  /** Simulates the evaluation of a batch, in steps, until the meter stops it. Returns the time spent. */
  const work = (orgId: string, ms: number, { events = 1, stepMs = 0.5, busy = 1 } = {}) => {
    const { meter, end } = slices.begin(orgId)
    let done = 0
    try {
      while (done < ms) {
        meter.check(0)
        done += stepMs
        wall += stepMs * busy
        processor += stepMs
      }
    } catch (error) {
      if (!(error instanceof OutOfTime)) throw error
    }
    end(events)
    return done
  }
  const pass = (ms: number) => {
    wall += ms
  }
  return { work, pass }
}

describe('the time limit of a batch', () => {
  test('is twice its slice when no other organization sends events', () => {
    const { work } = setUp()
    for (let n = 0; n < 20; n++) expect(work('org_a', 1000)).toBeWithin(25, 51)
  })

  test('does not affect a batch that needs less time', () => {
    const { work } = setUp()
    expect(work('org_a', 20)).toBe(20)
  })

  test('is much lower when another organization sends events, and zero when the balance is used up', () => {
    const { work } = setUp()
    work('org_b', 0.5)
    expect(work('org_a', 1000)).toBeWithin(3, 7)
    let worked = 0
    for (let n = 0; n < 100; n++) {
      work('org_b', 0.5)
      worked += work('org_a', 1000)
    }
    expect(worked).toBeLessThan(100)
    // Cheap events of the other organization are not affected.
    expect(work('org_b', 2, { events: 100 })).toBe(2)
  })

  test('is the full slice again after other organizations stop sending events', () => {
    const { work, pass } = setUp()
    work('org_b', 0.5)
    for (let n = 0; n < 50; n++) work('org_a', 1000)
    pass(1001)
    expect(work('org_a', 1000)).toBeWithin(25, 51)
  })

  test('recovers after some time while another organization sends events', () => {
    const { work, pass } = setUp()
    for (let n = 0; n < 50; n++) {
      work('org_b', 0.5)
      work('org_a', 1000)
    }
    pass(400)
    work('org_b', 0.5)
    expect(work('org_a', 1000)).toBeWithin(3, 7)
  })

  test('is the same when the machine is busy with other work', () => {
    const { work } = setUp()
    work('org_b', 0.5)
    expect(work('org_a', 3, { busy: 50 })).toBe(3)
  })

  test('is not reduced by many cheap events', () => {
    const { work } = setUp()
    for (let n = 0; n < 200; n++) {
      work('org_b', 0.5)
      expect(work('org_a', 3, { events: 100 })).toBe(3)
    }
  })
})
