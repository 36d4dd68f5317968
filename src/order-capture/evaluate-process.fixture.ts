import { readFileSync } from 'node:fs'
import { deserialize } from 'node:v8'
import { DAY_MS } from '../core/clock.ts'
import { notifier } from '../integrations/delivery/notifier.ts'
import { openDatabase } from '../store/database.ts'
import { WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import type { History } from '../warehouse/warehouse.ts'
import { evaluateCaptureRules } from './evaluate-rules.ts'

/**
 * Evaluates the order capture rules of a database file once, in a separate process. The process kills itself at one of
 * its steps: whenever the clock is read, and before and after each query and each notice. Prints the number of steps if
 * it was not killed.
 *
 * Arguments: path of the database, path of the serialized warehouse, number of the fatal step (0: none).
 */
const [path = '', events = '', fatal = ''] = process.argv.slice(2)
let steps = 0
const reach = () => {
  if (++steps === Number(fatal)) process.kill(process.pid, 'SIGKILL')
}
const fixture = await WarehouseFixture.open({}, deserialize(readFileSync(events)))
const at = fixture.clock.now()
const clock = {
  now() {
    reach()
    return at
  },
}
const db = openDatabase(path)
const queue = notifier({ db, clock, publicUrl: 'https://watch.example', mailConfigured: true })
const query: History['query'] = async (...given) => {
  reach()
  const rows = await fixture.warehouse.query(...given)
  reach()
  return rows as never
}
await evaluateCaptureRules({
  db,
  clock,
  history: { query } as History,
  retentionMs: 90 * DAY_MS,
  watermark: () => at,
  enqueue(order) {
    reach()
    queue(order)
    reach()
  },
  report(error) {
    throw error
  },
})
reach()
db.close()
await fixture[Symbol.asyncDispose]()
console.info(steps)
