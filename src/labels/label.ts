import { Closed, InstantSchema, Nullable, OneOf, type Static, Text, Type } from '../core/schema.ts'

/** The most labels of an organization, members of one label, and members of all its labels together. */
export const MAX_LABELS = 500
export const MAX_MEMBERS = 500
export const MAX_ALL_MEMBERS = 5000

const LABEL_KINDS = ['step', 'group', 'owner'] as const

const MemberSchema = Closed({
  vendor: Text(1, 200, { description: 'The vendor, spelled exactly', examples: ['Google Analytics 4'] }),
  event: Type.String({
    maxLength: 200,
    description: 'The event’s name; empty: every event of the vendor',
    examples: ['purchase'],
  }),
})
/** Events that have a label: those of a vendor with this name, or all of the vendor where `event` is empty. */
export type LabelMember = Static<typeof MemberSchema>

/** Returns the members of a label of the organization, whatever its case; none for a label that does not exist. */
export type MembersOf = (label: string) => readonly LabelMember[]

export const noMembers: MembersOf = () => []

const name = Text(1, 80, {
  description: 'The name; upper and lower case are the same label',
  examples: ['Checkout'],
})
const members = Type.Array(MemberSchema, {
  maxItems: MAX_MEMBERS,
  description: 'Events, each by vendor and name',
  examples: [[{ vendor: 'Google Analytics 4', event: 'begin_checkout' }]],
})

const EXAMPLE = {
  label: 'Checkout',
  color: '#3b82f6',
  kind: 'step',
  members: [
    { vendor: 'Google Analytics 4', event: 'begin_checkout' },
    { vendor: 'Meta Pixel', event: 'InitiateCheckout' },
  ],
} as const

const LabelSchema = Closed(
  {
    id: Type.String(),
    label: Type.String(),
    color: Type.String({ description: '`#rrggbb`' }),
    kind: OneOf(LABEL_KINDS),
    members: Type.Array(MemberSchema, { description: 'By vendor, then event' }),
    createdAt: InstantSchema,
  },
  { $id: 'Label', examples: [{ id: 'lbl_01ke7jhv00h3a6d9g2j5m8q1tw', ...EXAMPLE, createdAt: 1_767_614_400_000 }] },
)
export type Label = Static<typeof LabelSchema>

export const LabelListSchema = Closed(
  { labels: Type.Array(LabelSchema), nextCursor: Nullable(Type.String()) },
  { $id: 'LabelList' },
)

export const LabelAssignInputSchema = Closed(
  {
    label: name,
    color: Type.Optional(
      Type.String({
        maxLength: 7,
        description: '`#rrggbb`; left out: a new label gets one, a known one keeps its own',
        examples: ['#3b82f6'],
      }),
    ),
    kind: Type.Optional(
      OneOf(LABEL_KINDS, {
        description: 'What it is for: a step of a journey (default), a group of events, who owns them',
        examples: ['step'],
      }),
    ),
    members,
  },
  { $id: 'LabelAssignInput', examples: [EXAMPLE] },
)
export type LabelAssignInput = Static<typeof LabelAssignInputSchema>

export const LabelUnassignInputSchema = Closed(
  { label: name, members },
  { $id: 'LabelUnassignInput', examples: [{ label: EXAMPLE.label, members: EXAMPLE.members.slice(1) }] },
)
export type LabelUnassignInput = Static<typeof LabelUnassignInputSchema>

/** Colors that are told from one another on white and on black, in the order in which new labels get them. */
const COLORS = [
  ...['#3b82f6', '#f97316', '#10b981', '#ec4899', '#8b5cf6', '#eab308', '#06b6d4', '#ef4444', '#84cc16', '#6366f1'],
]

/** Returns the color of the next label of an organization that has this many. */
export const colorOf = (labels: number): string => COLORS[labels % COLORS.length] ?? '#3b82f6'

/** Returns the text by which labels are told apart: without regard to case, and to how Unicode composes letters. */
export const keyOfLabel = (label: string): string => label.trim().normalize('NFC').toLowerCase()
