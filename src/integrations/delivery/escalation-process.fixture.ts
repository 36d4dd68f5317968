import { escalateDue } from '../../issues/escalate-issues.ts'
import { openDatabase } from '../../store/database.ts'
import { notifier } from './notifier.ts'

/**
 * Runs the escalation job once on a database file, in a separate process and at a fixed time. The
 * process kills itself at one of its steps: whenever the clock is read, and before and after each notice is queued.
 * Prints the number of steps if it was not killed.
 *
 * Arguments: path of the database, time in ms, number of the fatal step (0: none).
 */
const [path = '', at = '', fatal = ''] = process.argv.slice(2)
let steps = 0
const reach = () => {
  if (++steps === Number(fatal)) process.kill(process.pid, 'SIGKILL')
}
const clock = {
  now() {
    reach()
    return Number(at)
  },
}
const db = openDatabase(path)
const queue = notifier({ db, clock, publicUrl: 'https://watch.example' })
await escalateDue({
  db,
  clock,
  report(error) {
    throw error
  },
  enqueue(order) {
    reach()
    queue(order)
    reach()
  },
})
reach()
db.close()
console.info(steps)
