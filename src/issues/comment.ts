import { Closed, InstantSchema, type Static, Type } from '../core/schema.ts'
import { NextCursorSchema } from '../http/paging.ts'

/** Maximum number of comments on an issue. */
export const MAX_COMMENTS = 1000
const MAX_LENGTH = 2000

const CommentSchema = Closed({
  id: Type.String(),
  userId: Type.String({ description: 'The author' }),
  name: Type.String({ description: 'Name of the author; `a member` if the user has not set a name' }),
  body: Type.String(),
  createdAt: InstantSchema,
})
export type IssueComment = Static<typeof CommentSchema>

export const IssueCommentListSchema = Closed(
  { comments: Type.Array(CommentSchema, { description: 'Newest first' }), nextCursor: NextCursorSchema },
  {
    $id: 'IssueCommentList',
    examples: [
      {
        comments: [
          {
            id: 'cmt_01ke7k5m3m4q8w1z6x0v2b9n7t',
            userId: 'usr_01ke7jhv00b6d8n2r5v7y1j3fq',
            name: 'Ann',
            body: '@Ben the release at 12:00 removed the value',
            createdAt: 1_767_616_200_000,
          },
        ],
        nextCursor: null,
      },
    ],
  },
)

export const IssueCommentInputSchema = Closed(
  {
    body: Type.String({
      minLength: 1,
      maxLength: MAX_LENGTH,
      description:
        'Text of the comment. `@` followed by the name or e-mail address of a member mentions them: they are notified by e-mail',
    }),
  },
  { $id: 'IssueCommentInput', examples: [{ body: '@Ben the release at 12:00 removed the value' }] },
)

interface Mentionable {
  id: string
  name: string | null
  email: string
}

/** A letter or digit directly after a name would be part of a longer name. */
const CONTINUES_NAME = /^[\p{L}\p{M}\p{N}_]/u
/** After an address, so do a dot or hyphen and a letter: `ann@example.com.au`. */
const CONTINUES_ADDRESS = /^[\p{L}\p{M}\p{N}_]|^[.-]+[\p{L}\p{N}]/u

const plain = (text: string) => text.normalize('NFC').replaceAll(/\s+/g, ' ').trim().toLowerCase()

/**
 * Returns the ids of the members that a comment mentions: `@` at the start of a word, followed by a name or an e-mail
 * address, regardless of case. If several names match, the longest counts. Members with the same name are all
 * mentioned.
 */
export function mentionedIn(body: string, members: readonly Mentionable[]): string[] {
  const names = members.flatMap(({ id, name, email }) => [
    { id, text: plain(email), continues: CONTINUES_ADDRESS },
    ...(name === null ? [] : [{ id, text: plain(name), continues: CONTINUES_NAME }]),
  ])
  const text = plain(body)
  const found = new Set<string>()
  for (const { index } of text.matchAll(/(?<![\p{L}\p{M}\p{N}_.+-])@/gu)) {
    const rest = text.slice(index + 1)
    const meant = names.filter(
      ({ text: name, continues }) => name !== '' && rest.startsWith(name) && !continues.test(rest.slice(name.length)),
    )
    const longest = Math.max(0, ...meant.map(({ text: name }) => name.length))
    for (const { id, text: name } of meant) if (name.length === longest) found.add(id)
  }
  return [...found]
}
