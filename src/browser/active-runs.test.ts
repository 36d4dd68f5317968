import { expect, test } from 'bun:test'
import { ActiveRuns } from './active-runs.ts'

/** Creates a pool whose runs continue until they are stopped or the test ends them. */
function world() {
  const underWay = new ActiveRuns<{ id: string }>()
  const log: string[] = []
  const ends = new Map<string, () => void>()
  const begin = (id: string) =>
    underWay.begin({ id }, async (stopping) => {
      log.push(`begin ${id}`)
      await new Promise<void>((resolve) => {
        ends.set(id, resolve)
        stopping.addEventListener('abort', () => resolve())
      })
      log.push(stopping.aborted ? `stop ${id}` : `end ${id}`)
    })
  return { underWay, log, ends, begin }
}

test('a run is not started again before it has ended', async () => {
  const { underWay, log, ends, begin } = world()
  await underWay.idle()
  begin('a')
  begin('a')
  ends.get('a')?.()
  await underWay.idle()
  begin('a')
  expect(log).toEqual(['begin a', 'end a', 'begin a'])
})

test('cancelling one run does not affect the others', async () => {
  const { underWay, log, ends, begin } = world()
  begin('a')
  begin('b')
  underWay.cancel(({ id }) => id === 'a')
  await Promise.resolve()
  ends.get('b')?.()
  await underWay.idle()
  expect(log).toEqual(['begin a', 'begin b', 'stop a', 'end b'])
})

test('all active runs end on close, and no run starts afterwards', async () => {
  const { underWay, log, begin } = world()
  begin('a')
  begin('b')
  await underWay.close()
  begin('c')
  expect([log, underWay.isClosed]).toEqual([['begin a', 'begin b', 'stop a', 'stop b'], true])
})
