import { Closed, InstantSchema, OneOf, type Static, Text, Type } from '../core/schema.ts'
import { NextCursorSchema } from '../http/paging.ts'
import { managedByField } from '../managed/managed-item.ts'

/** Maximum number of labels per organization, of members per label, and of members in all labels of an organization. */
export const MAX_LABELS = 500
export const MAX_MEMBERS = 500
export const MAX_ALL_MEMBERS = 5000

const LABEL_KINDS = ['step', 'group', 'owner'] as const

const MemberSchema = Closed({
  vendor: Text(1, 200, { description: 'Exact name of the vendor', examples: ['Google Analytics 4'] }),
  event: Type.String({
    maxLength: 200,
    description: 'Name of the event; empty: every event of the vendor',
    examples: ['purchase'],
  }),
})
/** Events in a label: a vendor's events with this name, or all events of the vendor when `event` is empty. */
export type LabelMember = Static<typeof MemberSchema>

/**
 * Returns the members of one of the organization's labels; empty for an unknown label. The name is not case-sensitive.
 */
export type MembersOf = (label: string) => readonly LabelMember[]

export const noMembers: MembersOf = () => []

const name = Text(1, 80, {
  description: 'Name, not case-sensitive',
  examples: ['Checkout'],
})
const members = Type.Array(MemberSchema, {
  maxItems: MAX_MEMBERS,
  description: 'Events by vendor and name',
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

export const LabelSchema = Closed(
  {
    id: Type.String(),
    label: Type.String(),
    color: Type.String({ description: '`#rrggbb`' }),
    kind: OneOf(LABEL_KINDS),
    members: Type.Array(MemberSchema, { description: 'Sorted by vendor, then event' }),
    createdAt: InstantSchema,
    managedBy: managedByField(),
  },
  { $id: 'Label', examples: [{ id: 'lbl_01ke7jhv00h3a6d9g2j5m8q1tw', ...EXAMPLE, createdAt: 1_767_614_400_000 }] },
)
export type Label = Static<typeof LabelSchema>

export const LabelListSchema = Closed(
  { labels: Type.Array(LabelSchema), nextCursor: NextCursorSchema },
  { $id: 'LabelList' },
)

export const LabelAssignInputSchema = Closed(
  {
    label: name,
    color: Type.Optional(
      Type.String({
        maxLength: 7,
        description: '`#rrggbb`. Default: a new label is assigned a color, an existing label keeps its color',
        examples: ['#3b82f6'],
      }),
    ),
    kind: Type.Optional(
      OneOf(LABEL_KINDS, {
        description: 'Purpose: a step of a journey (default), a group of events, or their owner',
        examples: ['step'],
      }),
    ),
    members,
  },
  { $id: 'LabelAssignInput', examples: [EXAMPLE] },
)
export type LabelAssignInput = Static<typeof LabelAssignInputSchema>

export const LabelInputSchema = Closed(
  { ...LabelAssignInputSchema.properties },
  { $id: 'LabelInput', description: 'Omitted `color` and `kind` are unchanged', examples: [EXAMPLE] },
)
export type LabelInput = Static<typeof LabelInputSchema>

export const LabelUnassignInputSchema = Closed(
  { label: name, members },
  { $id: 'LabelUnassignInput', examples: [{ label: EXAMPLE.label, members: EXAMPLE.members.slice(1) }] },
)
export type LabelUnassignInput = Static<typeof LabelUnassignInputSchema>

/**
 * Colors that are visible on both white and black backgrounds, in the order in which they are assigned to new labels.
 */
const COLORS = [
  '#3b82f6',
  '#f97316',
  '#10b981',
  '#ec4899',
  '#8b5cf6',
  '#eab308',
  '#06b6d4',
  '#ef4444',
  '#84cc16',
  '#6366f1',
]

/** Returns the color of a new label. `labels`: number of existing labels in the organization. */
export const colorOf = (labels: number): string => COLORS[labels % COLORS.length] ?? '#3b82f6'

/** Returns the key that identifies a label. It does not depend on case or Unicode composition. */
export const keyOfLabel = (label: string): string => label.trim().normalize('NFC').toLowerCase()
