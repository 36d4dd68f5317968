import { expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { randomOf } from '../detector/series.fixture.ts'
import { INITIAL_SHARE, judgeShare } from './judge-share.ts'
import { slicesOf, storedAt } from './shop.fixture.ts'

test.each([1, 2])(
  '50 unchanged shops open no issue in six weeks (%p)',
  (seed) => {
    const random = randomOf(seed)
    const opened: object[] = []
    for (let n = 0; n < 50; n++) {
      const shop = {
        perDay: Math.round(20 * 250 ** random()),
        loss: random() * 0.3,
        rhythm: random() * 0.03,
        weekend: random() * 0.03,
        hourNoise: random() * 0.01,
        dayNoise: random() * 0.01,
        random,
      }
      const slices = slicesOf(shop, 0, 42 * DAY_MS)
      let state = INITIAL_SHARE
      for (let now = 7 * DAY_MS; now < 42 * DAY_MS; now += HOUR_MS) {
        const next = judgeShare(storedAt(slices, now), state).state
        if (state.since === null && next.since !== null) opened.push({ ...shop, day: now / DAY_MS })
        state = next
      }
    }
    expect(opened).toEqual([])
  },
  120_000,
)
