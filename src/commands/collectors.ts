import { addCollector, type CollectorRecord, lagOf, listCollectors, removeCollector } from '../collectors/store.ts'
import { systemClock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { storedEngine } from '../warehouse/stored-engine.ts'
import { type Command, type Invocation, UsageError } from './command.ts'
import { configOf, DATA_FLAG } from './command-line-settings.ts'
import { withDatabase } from './user.ts'

const jsonFlag = (meaning: string) => ({ type: 'boolean', meaning }) as const

/** Returns the only operand. */
function nameOf(command: Command, { names }: Invocation): string {
  const [name, ...others] = names
  if (name === undefined || others.length > 0) throw new UsageError(`${command.name}: give one name of a collector`)
  return name
}

/** Runs `work` on the database. Reports expected errors as incorrect use. */
async function changing<T>(command: Command, invocation: Invocation, work: Parameters<typeof withDatabase<T>>[2]) {
  try {
    return await withDatabase(command, invocation, work)
  } catch (error) {
    if (error instanceof AppError) throw new UsageError(`${command.name}: ${error.message}`)
    throw error
  }
}

const NOT_SHARED =
  'warning: the events of this data folder are not in ClickHouse; the server refuses collectors until it starts with TAGWARDEN_WAREHOUSE'

export const collectorsAdd: Command = {
  name: 'collectors add',
  operands: 'NAME',
  summary: 'Adds a collector and prints its token, which is shown only once. The server may run.',
  flags: { ...DATA_FLAG, json: jsonFlag('Print {name, token} as JSON') },
  async run(invocation) {
    const name = nameOf(collectorsAdd, invocation)
    const { token, collector, isShared } = await changing(collectorsAdd, invocation, (db) => ({
      ...addCollector(db, systemClock, name),
      isShared: configOf(invocation).warehouse !== null || storedEngine(db) === 'clickhouse',
    }))
    if (!isShared) console.error(NOT_SHARED)
    console.log(invocation.flags.json ? JSON.stringify({ name: collector.name, token }) : token)
    return 0
  },
}

export const collectorsList: Command = {
  name: 'collectors list',
  summary: 'Lists the collectors of a data folder, also while the server runs.',
  flags: {
    ...DATA_FLAG,
    json: jsonFlag(
      'Print {collectors: [{name, slot, createdAt, seenAt, version, lagMs, diskBytes, freeBytes, isAway}]}',
    ),
  },
  async run(invocation) {
    const all = await withDatabase(collectorsList, invocation, listCollectors)
    const collectors = all.map(factsOf)
    console.log(
      invocation.flags.json
        ? JSON.stringify({ collectors }, null, 2)
        : collectors.map(lineOf).join('\n') || 'There are no collectors.',
    )
    return 0
  },
}

export const collectorsRemove: Command = {
  name: 'collectors remove',
  operands: 'NAME',
  summary: 'Removes a collector, so that its token no longer works. The server may run.',
  flags: { ...DATA_FLAG, json: jsonFlag('Print {ok} as JSON') },
  async run(invocation) {
    const name = nameOf(collectorsRemove, invocation)
    await changing(collectorsRemove, invocation, (db) => removeCollector(db, name))
    console.log(invocation.flags.json ? JSON.stringify({ ok: true }) : `removed ${name}`)
    return 0
  },
}

function factsOf(collector: CollectorRecord) {
  const { id: _, instance: __, storedThrough: ___, ...shown } = collector
  return { ...shown, lagMs: lagOf(collector) }
}

function lineOf({ name, seenAt, version, lagMs, diskBytes, isAway }: ReturnType<typeof factsOf>): string {
  if (seenAt === null) return `${name}  never in contact`
  const facts = [
    `${isAway ? 'away, ' : ''}last contact ${new Date(seenAt).toISOString()}`,
    `version ${version}`,
    `lag ${Math.round((lagMs ?? 0) / 1000)} s`,
    `waiting events ${Math.round((diskBytes ?? 0) / 2 ** 20)} MiB`,
  ]
  return `${name}  ${facts.join('; ')}`
}
