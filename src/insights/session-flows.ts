import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { MAX_HOURS } from '../contract/limits.ts'
import { Closed, Int, type Static, Type } from '../core/schema.ts'
import type { History } from '../warehouse/warehouse.ts'
import { insight } from './insight.ts'
import { domainFields, domainsNamed, rangeFields, windowOf } from './query-params.ts'
import {
  type FlowRow,
  type FlowScope,
  flowsQuery,
  MAX_NAMED_PATHS,
  pathsQuery,
  type SenderRow,
  sendersQuery,
} from './session-flow-query.ts'

/** Above this number of sessions, a sample is read. */
const MAX_SESSIONS = 200_000
/** Maximum number of vendor events listed per node. */
const MAX_FIRED = 20
/** Name for all unnamed paths of a step together. */
const OTHER_PATHS = '(other)'

const DEFAULT_HOURS = 72

const Input = Closed({
  ...rangeFields(DEFAULT_HOURS, MAX_HOURS.journeys),
  ...domainFields,
  maxSteps: Type.Optional(
    Int({ minimum: 2, maximum: 6, default: 4, description: 'Number of steps from the start of a session' }),
  ),
})

const NodeSchema = Closed({
  path: Type.String({
    description: `As in \`steps\`, without identifiers (\`*\`); \`${OTHER_PATHS}\`: all paths but the 20 most frequent`,
  }),
  sessions: Int(),
  vendors: Type.Array(Closed({ vendor: Type.String(), event: Type.String(), count: Int() }), {
    description: 'The 20 most frequent events during these stays, by count',
  }),
})

const FlowsSchema = Closed(
  {
    sessionsSampled: Int({ description: 'Number of sessions read: all, up to 200,000' }),
    steps: Type.Array(
      Closed({
        index: Int({ description: 'From 0' }),
        nodes: Type.Array(NodeSchema, { description: 'Sorted by sessions, largest first' }),
      }),
    ),
    links: Type.Array(Closed({ fromStep: Int(), fromPath: Type.String(), toPath: Type.String(), sessions: Int() }), {
      description: 'Transitions from one step to the next, sorted by step, then by sessions',
    }),
  },
  {
    $id: 'SessionFlows',
    examples: [
      {
        sessionsSampled: 1200,
        steps: [
          {
            index: 0,
            nodes: [{ path: '/', sessions: 1200, vendors: [{ vendor: 'Meta Pixel', event: 'PageView', count: 1310 }] }],
          },
          { index: 1, nodes: [{ path: '/products/*', sessions: 700, vendors: [] }] },
        ],
        links: [{ fromStep: 0, fromPath: '/', toPath: '/products/*', sessions: 700 }],
      },
    ],
  },
)
export type Flows = Static<typeof FlowsSchema>

/** Paths of sessions from page to page, and the events on each page. */
export const sessionFlows = insight({
  id: 'getJourneyFlows',
  summary: 'Show how sessions move between pages and which events they send',
  description:
    'A step is a stay: consecutive events on one path. Sessions end after 30 minutes without an event; ' +
    'events without a path are excluded. Sessions and events are counted as received, not weighted by sampling.',
  path: '/journeys/flows',
  refusals: ['notFound', 'unavailable'],
  input: Input,
  output: FlowsSchema,
  exports: {
    row: Closed({ step: Int(), ...NodeSchema.properties }),
    rowsOf: ({ steps }) => steps.flatMap(({ index, nodes }) => nodes.map((node) => ({ step: index, ...node }))),
  },
  async answer(sources, { maxSteps = 4, ...asked }, { principal: { orgId }, now }) {
    const { history, privacy } = sources
    const window = windowOf(asked, { byDefault: DEFAULT_HOURS, maximum: MAX_HOURS.journeys, now })
    const named = domainsNamed(sources, orgId, asked)
    if (named?.length === 0) return flowsOf([], privacy())
    const scope = { orgId, window, domainIds: named ?? [] }
    return flowsOf(await rowsOf(scope, maxSteps, privacy(), history), privacy())
  },
})

/** Returns the flow rows. Above `MAX_SESSIONS`, they are based on a sample of sessions. */
async function rowsOf(scope: FlowScope, maxSteps: number, privacy: Privacy, history: History): Promise<FlowRow[]> {
  const [[senders], names] = await Promise.all([
    history.query<SenderRow>(sendersQuery(scope)),
    history.query<{ name: string }>(pathsQuery(scope)),
  ])
  if (!senders || senders.senders === 0) return []
  const isCut = names.length > MAX_NAMED_PATHS
  const masked = names.flatMap(({ name }) => {
    const shown = maskPersonal(name, '$path', privacy)
    return shown === name ? [] : [{ name, shown }]
  })
  let oneIn = Math.ceil(senders.senders / MAX_SESSIONS)
  for (;;) {
    const rows = await history.query<FlowRow>(flowsQuery(scope, { maxSteps, oneIn, senders, masked, isCut }))
    const sessions = sessionsIn(rows)
    if (sessions <= MAX_SESSIONS * SAMPLING_SLACK) return rows
    // There are still too many sessions, because senders had several sessions each.
    oneIn *= Math.ceil(sessions / MAX_SESSIONS)
  }
}

/** Tolerance for the sample size, which is rarely exact. */
const SAMPLING_SLACK = 1.02

const sessionsIn = (rows: readonly FlowRow[]) =>
  rows.reduce((sum, { kind, step, count }) => (kind === 'node' && step === 0 ? sum + count : sum), 0)

/** Returns the response for these rows, with masked names. */
function flowsOf(rows: readonly FlowRow[], privacy: Privacy): Flows {
  const pathOf = (path: string | null) => (path === null ? OTHER_PATHS : maskPersonal(path, '$path', privacy))
  const byKind = Map.groupBy(rows, ({ kind }) => kind)
  const [nodes = [], links = [], fired = []] = (['node', 'link', 'fired'] as const).map((kind) => byKind.get(kind))
  const firedAt = Map.groupBy(fired, ({ step, path }) => `${step} ${path ?? ''}`)
  const steps = Map.groupBy(nodes, ({ step }) => step)
  return {
    sessionsSampled: sessionsIn(rows),
    steps: [...steps]
      .sort(([a], [b]) => a - b)
      .map(([index, nodes]) => ({
        index,
        nodes: nodes
          .map(({ path, count }) => ({
            path: pathOf(path),
            sessions: count,
            vendors: vendorsOf(firedAt.get(`${index} ${path ?? ''}`) ?? [], privacy),
          }))
          .sort((a, b) => isOther(a.path) - isOther(b.path) || b.sessions - a.sessions || compare(a.path, b.path)),
      })),
    links: links
      .map(({ step, path, toPath, count }) => ({
        fromStep: step,
        fromPath: pathOf(path),
        toPath: pathOf(toPath),
        sessions: count,
      }))
      .sort(
        (a, b) =>
          a.fromStep - b.fromStep ||
          b.sessions - a.sessions ||
          compare(a.fromPath, b.fromPath) ||
          compare(a.toPath, b.toPath),
      ),
  }
}

const isOther = (path: string) => (path === OTHER_PATHS ? 1 : 0)
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Merges names that are equal after masking. */
function vendorsOf(rows: readonly FlowRow[], privacy: Privacy): Flows['steps'][number]['nodes'][number]['vendors'] {
  const named = rows.map(({ vendor, event, count }) => ({
    vendor: maskPersonal(vendor ?? '', '$vendor', privacy),
    event: maskPersonal(event ?? '', '$event', privacy),
    count,
  }))
  return [...Map.groupBy(named, ({ vendor, event }) => `${vendor}\0${event}`).values()]
    .flatMap(([first, ...others]) =>
      first ? [{ ...first, count: others.reduce((sum, { count }) => sum + count, first.count) }] : [],
    )
    .sort((a, b) => b.count - a.count || compare(a.vendor, b.vendor) || compare(a.event, b.event))
    .slice(0, MAX_FIRED)
}
