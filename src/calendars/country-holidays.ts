import { workerEnv } from '../core/child-env.ts'
import { AppError } from '../core/error.ts'
import { programCommand } from '../core/program-command.ts'
import { CalendarDays, type Years } from './calendar-days.ts'

/** A country or one of its regions. */
export interface Country {
  /** ISO 3166 code: `DE`, or `DE-BY` for a region. */
  code: string
  name: string
}

type Request = { kind: 'list' } | { kind: 'days'; code: string; years: Years }
type Answer = { countries: Country[] } | { days: { day: string; name: string }[] | null }

/** Longer requests fail. The slowest country takes less than two seconds. */
const LIMIT_MS = 30_000

let countries: Promise<Country[]> | null = null

/** Returns all countries and regions whose holidays are known, sorted by code. */
export function listCountries(): Promise<Country[]> {
  countries ??= ask({ kind: 'list' }).then(
    (answer) => ('countries' in answer ? answer.countries : []),
    (error: unknown) => {
      countries = null
      throw error
    },
  )
  return countries
}

/**
 * Returns the public and bank holidays of a country or region, with English names where known. Throws `invalid` with a
 * message without the field's name for an unknown code.
 */
export async function countryHolidays(code: string, years: Years): Promise<CalendarDays> {
  const answer = await ask({ kind: 'days', code, years })
  if (!('days' in answer) || answer.days === null) {
    throw new AppError('invalid', `${code} is not a known country or region; use a code such as DE or DE-BY`)
  }
  const days = new CalendarDays(years)
  for (const { day, name } of answer.days) days.add(day, name)
  return days
}

/**
 * Asks a separate process, because loading the list of all holidays takes 0.1 s and computing some lunar calendars as
 * long, both without a pause.
 */
async function ask(request: Request): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const child = Bun.spawn([...programCommand(), 'holidays'], {
    env: workerEnv(),
    stdio: ['ignore', 'ignore', 'inherit'],
    ipc: (message) => resolve(message as Answer),
    onExit: () => reject(new AppError('unavailable', 'the list of holidays could not be read; try again', 5)),
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS)
  child.send(request)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    child.kill('SIGKILL')
    await child.exited
  }
}

/** Runs in the child process, which ends after the response. */
export function answerParent(): Promise<never> {
  process.on('message', (request: Request) => process.send?.(answerTo(request)))
  process.on('disconnect', () => process.exit(0))
  return new Promise(() => {})
}

function answerTo(request: Request): Answer {
  // The exported class is CommonJS, and the types describe an ES module.
  const Holidays = require('date-holidays') as typeof import('date-holidays').default
  const list = new Holidays()
  if (request.kind === 'list') {
    const found = Object.entries(list.getCountries('en')).flatMap(([code, name]) => [
      { code, name },
      ...Object.entries(list.getStates(code, 'en') ?? {}).map(([state, region]) => ({
        code: `${code}-${state}`,
        name: `${name}: ${region}`,
      })),
    ])
    return { countries: found.sort((a, b) => (a.code < b.code ? -1 : 1)) }
  }
  const [country = '', state] = request.code.split(/-(.*)/)
  const names = list.getCountries('en')
  if (!Object.hasOwn(names, country)) return { days: null }
  if (state !== undefined && !Object.hasOwn(list.getStates(country, 'en') ?? {}, state)) return { days: null }
  const types = { types: ['public', 'bank'] as ('public' | 'bank')[] }
  const holidays = state === undefined ? new Holidays(country, types) : new Holidays(country, state, types)
  const days: { day: string; name: string }[] = []
  for (let year = request.years.first; year <= request.years.last; year++) {
    // The date may be followed by a time, because some holidays begin in the afternoon or at sunset.
    for (const { date, name } of holidays.getHolidays(year, 'en')) days.push({ day: date.slice(0, 10), name })
  }
  return { days }
}
