import { ActionIcon, Button, Group, Paper, Stack, Text, Textarea, Title } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { listIssueCommentsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { addIssueComment, deleteIssueComment } from '#client/sdk.gen'
import type { IssueCommentList, IssueDetail } from '#client/types.gen'
import { memberName, useMembers } from '../../../api/members.ts'
import { mutate } from '../../../api/mutate.ts'
import { invalidate } from '../../../api/queries.ts'
import { useHasRole, useWhoami } from '../../../api/whoami.ts'
import { Data } from '../../../components/data-text.tsx'
import { Form } from '../../../components/form.tsx'
import { QueryState, SkeletonLines } from '../../../components/query-state.tsx'
import { TimeAgo } from '../../../components/time-ago.tsx'
import { useFormFields } from '../../../components/use-form-fields.ts'
import { messages } from '../../../messages.ts'
import classes from './issue-page.module.css'

type IssueComment = IssueCommentList['comments'][number]

const MAX_LENGTH = 2000
/** Maximum number of members offered for a mention. */
const MAX_OFFERED = 5

/** The comments on an issue, newest first, and a form to add one. */
export function Comments({ issue: { id } }: { issue: IssueDetail }) {
  const mayWrite = useHasRole('member')
  const query = useInfiniteQuery(listIssueCommentsInfiniteOptions({ path: { id } }))
  const t = messages.issue.comments
  return (
    <Paper component="section" aria-label={t.title}>
      <Title order={2} mb="md">
        {t.title}
      </Title>
      <Stack gap="md">
        {mayWrite && <CommentForm issueId={id} />}
        <QueryState
          query={query}
          skeleton={<SkeletonLines count={2} />}
          isEmpty={({ pages }) => pages[0]?.comments.length === 0}
          empty={<Text c="dimmed">{t.none}</Text>}
        >
          {({ pages }) => (
            <ul className={classes.comments} aria-label={t.title}>
              {pages
                .flatMap(({ comments }) => comments)
                .map((comment) => (
                  <Comment key={comment.id} issueId={id} comment={comment} />
                ))}
            </ul>
          )}
        </QueryState>
        {query.hasNextPage && (
          <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {t.older}
          </Button>
        )}
      </Stack>
    </Paper>
  )
}

function Comment({ issueId, comment }: { issueId: string; comment: IssueComment }) {
  const { id, userId, name, body, createdAt } = comment
  const isOwn = useWhoami()?.userId === userId
  const mayWrite = useHasRole('member')
  const t = messages.issue.comments
  const remove = () =>
    mutate({
      invalidates: ['listIssueComments'],
      send: () => deleteIssueComment({ path: { id: issueId, commentId: id } }),
      message: t.deleted,
    })
  return (
    <li>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text fz="sm">
          <strong>
            <Data>{name}</Data>
          </strong>{' '}
          <Text span c="dimmed" fz="xs">
            <TimeAgo at={createdAt} />
          </Text>
        </Text>
        {isOwn && mayWrite && (
          <ActionIcon variant="subtle" color="gray" size="sm" aria-label={t.remove} onClick={() => void remove()}>
            <IconTrash size={14} aria-hidden />
          </ActionIcon>
        )}
      </Group>
      <Text fz="sm" dir="auto" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }} translate="no">
        {body}
      </Text>
    </li>
  )
}

/** The word after an `@` at the end of the text; null if the text does not end in a mention. */
const typedMention = (text: string): string | null => /(?:^|\s)@([^\s@]{0,50})$/.exec(text)?.[1] ?? null

function CommentForm({ issueId }: { issueId: string }) {
  const area = useRef<HTMLTextAreaElement>(null)
  const members = useMembers()
  const t = messages.issue.comments
  const { values, set, field, sending } = useFormFields({ body: '' }, async ({ body }) => {
    await addIssueComment({ path: { id: issueId }, body: { body } })
    set({ body: '' })
    await invalidate('listIssueComments')
  })
  const typed = typedMention(values.body)
  const offered =
    typed === null
      ? []
      : members
          .flatMap((member) => (member.status === 'active' ? (memberName(member) ?? []) : []))
          .filter((name) => name.toLowerCase().includes(typed.toLowerCase()))
          .slice(0, MAX_OFFERED)
  const mention = (name: string) => {
    set({ body: `${values.body.slice(0, values.body.length - (typed?.length ?? 0))}${name} ` })
    area.current?.focus()
  }
  return (
    <Form submission={sending} button={t.add} isAside isWide>
      <Textarea
        ref={area}
        label={t.field}
        description={t.hint}
        {...field('body')}
        maxLength={MAX_LENGTH}
        minRows={2}
        autosize
        required
        // The only field of its form.
        withAsterisk={false}
      />
      {offered.length > 0 && (
        <Group gap="xs" role="group" aria-label={t.mention}>
          {offered.map((name) => (
            <Button key={name} size="compact-sm" variant="default" onClick={() => mention(name)}>
              <Data>{`@${name}`}</Data>
            </Button>
          ))}
        </Group>
      )}
    </Form>
  )
}
