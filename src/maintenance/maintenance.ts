import { MAX_RULE_LENGTH } from '../calendars/recurrence.ts'
import { DAY_MS } from '../core/clock.ts'
import { Closed, InstantInput, InstantSchema, Nullable, type Static, Text, Type } from '../core/schema.ts'
import { managedByField } from '../managed/managed-item.ts'

/** Maximum number of maintenance windows per organization. */
export const MAX_WINDOWS = 100
/** Maximum length of one occurrence. */
export const MAX_WINDOW_MS = 30 * DAY_MS
/** Number of upcoming occurrences in a response. */
export const NEXT_OCCURRENCES = 5

const EXAMPLE = {
  name: 'Weekly deployment',
  domainIds: ['dom_01ke7jm2q0d3k8f1z6y5b7n4ta'],
  projectId: null,
  vendors: null,
  from: 1_767_664_800_000,
  to: 1_767_672_000_000,
  rrule: 'FREQ=WEEKLY;BYDAY=TU',
  timezone: 'Europe/Berlin',
}

const fields = {
  name: Text(1, 100),
  domainIds: Type.Optional(
    Nullable(
      Type.Array(Text(1, 100), { minItems: 1, maxItems: 1000, description: 'Only issues of these domains; null: all' }),
    ),
  ),
  projectId: Type.Optional(
    Nullable(Text(1, 100, { description: "Only issues of this project's domains; null: all projects" })),
  ),
  vendors: Type.Optional(
    Nullable(
      Type.Array(Text(1, 200), {
        minItems: 1,
        maxItems: 200,
        description: 'Only issues whose finding is about one of these vendors; null: all vendors',
      }),
    ),
  ),
  from: InstantInput({ description: 'Start of the first occurrence, Unix time in milliseconds' }),
  to: InstantInput({ description: 'End of the first occurrence, at most 30 days after `from`' }),
  rrule: Type.Optional(
    Nullable(
      Text(1, MAX_RULE_LENGTH, {
        description:
          'Recurrence rule (RFC 5545) in `timezone`, at most once an hour of a day, such as FREQ=WEEKLY;BYDAY=SU. ' +
          'Null: once',
        examples: ['FREQ=WEEKLY;BYDAY=SU'],
      }),
    ),
  ),
  timezone: Text(1, 100, {
    description: 'IANA time zone of the rule. Occurrences begin and end at the same local times',
    examples: ['Europe/Berlin'],
  }),
}

export const MaintenanceInputSchema = Closed(fields, { $id: 'MaintenanceInput', examples: [EXAMPLE] })
export type MaintenanceInput = Static<typeof MaintenanceInputSchema>

const { from, to, rrule, timezone } = fields
/** When a window is in force. */
export const MaintenanceTimesSchema = Closed(
  { from, to, rrule, timezone },
  {
    $id: 'MaintenanceTimes',
    examples: [{ from: EXAMPLE.from, to: EXAMPLE.to, rrule: EXAMPLE.rrule, timezone: EXAMPLE.timezone }],
  },
)
export type MaintenanceTimes = Static<typeof MaintenanceTimesSchema>

const OccurrenceSchema = Closed({ from: InstantSchema, to: InstantSchema })
const nextOccurrences = Type.Array(OccurrenceSchema, {
  description: `The next ${NEXT_OCCURRENCES} occurrences, including the current one`,
})

export const MaintenancePreviewSchema = Closed(
  { nextOccurrences },
  { $id: 'MaintenancePreview', examples: [{ nextOccurrences: [{ from: EXAMPLE.from, to: EXAMPLE.to }] }] },
)

export const MaintenanceSchema = Closed(
  {
    id: Type.String(),
    name: Type.String(),
    domainIds: Nullable(Type.Array(Type.String())),
    projectId: Nullable(Type.String()),
    vendors: Nullable(Type.Array(Type.String())),
    from: InstantSchema,
    to: InstantSchema,
    rrule: Nullable(Type.String()),
    timezone: Type.String(),
    createdAt: InstantSchema,
    inForceUntil: Nullable(InstantSchema, { description: 'End of the current occurrence; null when not in force' }),
    nextOccurrences,
    managedBy: managedByField(),
  },
  {
    $id: 'Maintenance',
    examples: [
      {
        id: 'mnt_01ke7jhv00h3a6d9g2j5m8q1tw',
        ...EXAMPLE,
        createdAt: 1_767_614_400_000,
        inForceUntil: null,
        nextOccurrences: [{ from: EXAMPLE.from, to: EXAMPLE.to }],
      },
    ],
  },
)
export type Maintenance = Static<typeof MaintenanceSchema>
