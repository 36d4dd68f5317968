import { describe, expect, test } from 'bun:test'
import { OutOfTime } from '../conditions/meter.ts'
import { TimeSlices } from './time-slices.ts'

/** Slices by a stopwatch that is moved by hand. */
function setUp() {
  let [wall, processor] = [1000, 0]
  const slices = new TimeSlices({ wallMs: () => wall, processorMs: () => processor })
  /** Works on a batch in steps until the meter ends it; answers how long it worked. */
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

describe('a batch may take', () => {
  test('a slice and as much again when no other organization sends, however often', () => {
    const { work } = setUp()
    for (let n = 0; n < 20; n++) expect(work('org_a', 1000)).toBeWithin(25, 51)
  })

  test('all that it needs below that', () => {
    const { work } = setUp()
    expect(work('org_a', 20)).toBe(20)
  })

  test('much less when another organization sends, and nothing of it when its share is used up', () => {
    const { work } = setUp()
    work('org_b', 0.5)
    expect(work('org_a', 1000)).toBeWithin(3, 7)
    let worked = 0
    for (let n = 0; n < 100; n++) {
      work('org_b', 0.5)
      worked += work('org_a', 1000)
    }
    expect(worked).toBeLessThan(100)
    // A neighbour that costs little is not touched by it.
    expect(work('org_b', 2, { events: 100 })).toBe(2)
  })

  test('again what it may when the others went away', () => {
    const { work, pass } = setUp()
    work('org_b', 0.5)
    for (let n = 0; n < 50; n++) work('org_a', 1000)
    pass(1001)
    expect(work('org_a', 1000)).toBeWithin(25, 51)
  })

  test('its share again when time has passed', () => {
    const { work, pass } = setUp()
    for (let n = 0; n < 50; n++) {
      work('org_b', 0.5)
      work('org_a', 1000)
    }
    pass(400)
    work('org_b', 0.5)
    expect(work('org_a', 1000)).toBeWithin(3, 7)
  })

  test('as much when the machine is busy with other things meanwhile', () => {
    const { work } = setUp()
    work('org_b', 0.5)
    expect(work('org_a', 3, { busy: 50 })).toBe(3)
  })

  test('what many cheap events take, without being charged', () => {
    const { work } = setUp()
    for (let n = 0; n < 200; n++) {
      work('org_b', 0.5)
      expect(work('org_a', 3, { events: 100 })).toBe(3)
    }
  })
})
