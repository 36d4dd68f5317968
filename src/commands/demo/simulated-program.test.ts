import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openApp } from '../../app.ts'
import { readConfig } from '../../config.ts'
import { HOUR_MS, systemClock } from '../../core/clock.ts'
import { gapsBetween } from '../../signals/gap-store.ts'
import { SimulatedClock, SimulatedProgram } from './simulated-program.ts'

test('a history generated an hour ago leaves no collection gap, even if live events begin late', async () => {
  const data = mkdtempSync(join(tmpdir(), 'demo-days-'))
  const config = readConfig({ listen: '127.0.0.1:0', data }, {})
  const log = { info() {}, warn() {}, error() {} }
  const clock = new SimulatedClock(systemClock.now() - HOUR_MS)
  try {
    const days = await SimulatedProgram.open(config, clock, log)
    days.until(clock.now())
    days.reachPresent()
    await days.close()
    expect(Math.abs(clock.now() - systemClock.now())).toBeLessThan(HOUR_MS / 2)
    const app = await openApp({ config, clock, log })
    await app.jobs.find(({ name }) => name === 'heartbeat')?.run()
    expect(gapsBetween(app.db, 0, Number.MAX_SAFE_INTEGER)).toEqual([])
    await app.close()
  } finally {
    rmSync(data, { recursive: true })
  }
})
