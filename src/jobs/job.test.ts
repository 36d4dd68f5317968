import { expect, test } from 'bun:test'
import { until } from '../../test/run-program.ts'
import { Emitter } from '../core/emitter.ts'
import { type Job, runJobs } from './job.ts'

const everySecond = (run: Job['run'], name = 'work'): Job => ({ name, pattern: '* * * * * *', run })

test.concurrent('a job runs repeatedly, never concurrently with itself, without affecting others', async () => {
  let started = 0
  let underWay = 0
  let most = 0
  let others = 0
  const held = Promise.withResolvers<void>()
  const slow = everySecond(async () => {
    started++
    most = Math.max(most, ++underWay)
    await held.promise
    underWay--
  })
  const runner = runJobs([slow, everySecond(async () => void others++, 'other')], () => {})
  await until('the other job', () => others >= 2)
  expect(started).toBe(1)
  held.resolve()
  await until('the next run', () => started >= 2)
  await runner.stop()
  expect(most).toBe(1)
})

test.concurrent('a trigger starts a run early, once for concurrent triggers, and again for triggers during the run', async () => {
  const trigger = new Emitter()
  const runs: PromiseWithResolvers<void>[] = []
  const yearly: Job = { name: 'work', pattern: '0 0 0 1 1 *', trigger, run: () => begun().promise }
  const begun = () => {
    const run = Promise.withResolvers<void>()
    runs.push(run)
    return run
  }
  const runner = runJobs([everySecond(async () => {}, 'first'), yearly], () => {})
  for (let n = 0; n < 100; n++) trigger.emit()
  await until('the first run', () => runs.length > 0)
  for (let n = 0; n < 100; n++) trigger.emit()
  runs[0]?.resolve()
  await until('the second run', () => runs.length > 1)
  runs[1]?.resolve()
  await runner.stop()
  expect(runs).toHaveLength(2)
  trigger.emit()
  await Bun.sleep(0)
  expect(runs).toHaveLength(2)
})

test.concurrent('a failed run is reported with the name of its job, and retried', async () => {
  const reports: string[] = []
  const failing = everySecond(() => Promise.reject(new Error('disk full')))
  const runner = runJobs([failing], (error, job) => reports.push(`${job} / ${(error as Error).message}`))
  await until('two failures', () => reports.length >= 2)
  await runner.stop()
  expect(new Set(reports)).toEqual(new Set(['work: disk full / disk full']))
})

test.concurrent('stopping waits for the current run, and starts no others', async () => {
  let started = 0
  let ended = 0
  const held = Promise.withResolvers<void>()
  const runner = runJobs(
    [
      everySecond(async () => {
        started++
        await held.promise
        ended++
      }),
    ],
    () => {},
  )
  await until('a run', () => started > 0)
  let isStopped = false
  const stopping = runner.stop().then(() => {
    isStopped = true
  })
  await Promise.resolve()
  expect(isStopped).toBe(false)
  held.resolve()
  await stopping
  expect([started, ended]).toEqual([1, 1])
})
