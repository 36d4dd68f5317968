import { escalateDue } from '../../issues/escalate-issues.ts'
import { openDatabase } from '../../store/database.ts'
import { notifier } from './notifier.ts'

/**
 * Runs the escalation job on a database file as a process of its own, at a fixed time, until nothing is due. The
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
  enqueue(order) {
    reach()
    queue(order)
    reach()
  },
})
reach()
db.close()
console.info(steps)
