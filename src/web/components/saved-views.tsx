import { ActionIcon, Button, Checkbox, Group, Menu, Modal, Stack, Text, TextInput } from '@mantine/core'
import { IconBookmark, IconCheck, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listViewsOptions } from '#client/@tanstack/react-query.gen'
import { changeView, createView, deleteView } from '#client/sdk.gen'
import type { SavedView } from '#client/types.gen'
import { MAX_PAGE_SIZE } from '../../contract/limits.ts'
import type { SavedViewPage } from '../../contract/saved-view-pages.ts'
import { mutate } from '../api/mutate.ts'
import { useHasRole } from '../api/whoami.ts'
import { messages } from '../messages.ts'
import type { ParamTypes } from '../url-state/param-types.ts'
import { useSearchParams } from '../url-state/use-search-params.ts'
import { searchFrom, searchOf } from '../url-state/view-search.ts'
import { Data } from './data-text.tsx'
import classes from './filter-bar.module.css'
import { Form, useSubmit } from './form.tsx'
import { LazyMount } from './lazy-mount.tsx'

const INVALIDATES = ['listViews'] as const

interface SavedViewsProps<F extends ParamTypes> {
  /** Search params of the list. */
  fields: F
  page: SavedViewPage
}

/** A menu of the saved views of a list. Also saves, renames, shares and deletes views. */
export function SavedViewsMenu<F extends ParamTypes>({ fields, page }: SavedViewsProps<F>) {
  const [values, set] = useSearchParams(fields)
  const [isOpen, open] = useState(false)
  const [dialog, show] = useState<'save' | 'manage' | null>(null)
  const { data } = useQuery({
    ...listViewsOptions({ query: { page, limit: MAX_PAGE_SIZE } }),
    enabled: isOpen || dialog !== null,
  })
  const views = data?.views ?? []
  const current = searchOf(fields, values)
  const t = messages.components.views
  return (
    <>
      <Menu position="bottom-start" width={260} opened={isOpen} onChange={open} withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <Button variant="default" className={classes.views} leftSection={<IconBookmark size={16} aria-hidden />}>
            {t.title}
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah={400} style={{ overflowY: 'auto' }}>
          {views.map((view) => (
            <Menu.Item
              key={view.id}
              leftSection={
                <IconCheck size={14} aria-hidden visibility={view.search === current ? undefined : 'hidden'} />
              }
              rightSection={view.isShared ? <Text fz="xs">{t.shared}</Text> : null}
              aria-current={view.search === current || undefined}
              onClick={() => set(searchFrom(fields, view.search))}
            >
              <Data className={classes.value}>{view.name}</Data>
            </Menu.Item>
          ))}
          {data && views.length === 0 && <Menu.Label>{t.none}</Menu.Label>}
          <Menu.Divider />
          <Menu.Item onClick={() => show('save')}>{t.save}</Menu.Item>
          {views.length > 0 && <Menu.Item onClick={() => show('manage')}>{t.manage}</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      <LazyMount isOpen={dialog !== null}>
        {() => (
          <Modal
            opened={dialog !== null}
            onClose={() => show(null)}
            title={dialog === 'manage' ? t.manageTitle : t.saveTitle}
            closeButtonProps={{ 'aria-label': messages.shell.close }}
          >
            {dialog === 'save' && <SaveForm page={page} search={current} close={() => show(null)} />}
            {dialog === 'manage' && <ViewList views={views} current={current} />}
          </Modal>
        )}
      </LazyMount>
    </>
  )
}

function SaveForm({ page, search, close }: { page: SavedViewPage; search: string; close(): void }) {
  const mayShare = useHasRole('member')
  const [name, rename] = useState('')
  const [isShared, share] = useState(false)
  const t = messages.components.views
  const sending = useSubmit(['name', 'isShared'], async () => {
    await new Promise<void>((resolve, reject) => {
      void mutate({
        send: async () => (await createView({ body: { page, name, search, isShared } })).data,
        invalidates: INVALIDATES,
        message: t.saved(name),
        onRefused: reject,
      }).then((view) => view && resolve())
    })
    close()
  })
  return (
    <Form submission={sending} button={t.saveButton}>
      <TextInput
        label={t.name}
        value={name}
        onChange={({ currentTarget }) => rename(currentTarget.value)}
        error={sending.errorOf('name')}
        maxLength={100}
        required
        data-autofocus
      />
      {mayShare && (
        <Checkbox
          label={t.share}
          checked={isShared}
          onChange={({ currentTarget }) => share(currentTarget.checked)}
          error={sending.errorOf('isShared')}
        />
      )}
    </Form>
  )
}

function ViewList({ views, current }: { views: readonly SavedView[]; current: string }) {
  const mayShare = useHasRole('member')
  if (views.length === 0) return <Text>{messages.components.views.none}</Text>
  return (
    <Stack gap="lg">
      {views.map((view) => (
        <ViewForm
          key={view.id}
          view={view}
          mayShare={mayShare}
          mayChange={view.isOwn || mayShare}
          search={view.search === current ? null : current}
        />
      ))}
    </Stack>
  )
}

interface ViewFormProps {
  view: SavedView
  mayShare: boolean
  mayChange: boolean
  /** The current filters; null if they are those of the view. */
  search: string | null
}

function ViewForm({ view, mayShare, mayChange, search }: ViewFormProps) {
  const { id, page, isShared, isOwn } = view
  const [name, rename] = useState(view.name)
  const t = messages.components.views
  const change = (body: Partial<Pick<SavedView, 'name' | 'search' | 'isShared'>>) => changeView({ path: { id }, body })
  const sending = useSubmit(['name', 'isShared'], async () => {
    await new Promise<void>((resolve, reject) => {
      void mutate({
        send: async () => (await change({ name })).data,
        invalidates: INVALIDATES,
        message: t.renamed(name),
        onRefused: reject,
      }).then((changed) => changed && resolve())
    })
  })
  const share = (shared: boolean) =>
    void mutate({ send: () => change({ isShared: shared }), invalidates: INVALIDATES, undo: () => void share(!shared) })
  const replace = (next: string) =>
    void mutate({
      send: () => change({ search: next }),
      invalidates: INVALIDATES,
      message: t.replaced(view.name),
      undo: () => void replace(view.search),
    })
  const remove = () =>
    void mutate({
      send: () => deleteView({ path: { id } }),
      invalidates: INVALIDATES,
      message: t.deleted(view.name),
      undo: () =>
        void mutate({
          send: () => createView({ body: { page, name: view.name, search: view.search, isShared } }),
          invalidates: INVALIDATES,
        }),
    })
  if (!mayChange) {
    return (
      <div>
        <Data>{view.name}</Data>
        <Text c="dimmed" fz="sm">
          {t.sharedByOthers}
        </Text>
      </div>
    )
  }
  return (
    <form noValidate onSubmit={sending.submit}>
      <Group gap="xs" align="flex-start" wrap="nowrap">
        <TextInput
          flex={1}
          aria-label={t.nameOf(view.name)}
          value={name}
          onChange={({ currentTarget }) => rename(currentTarget.value)}
          error={sending.errorOf('name') ?? sending.refusal}
          maxLength={100}
        />
        <Button type="submit" variant="default" loading={sending.isSending} disabled={name === view.name}>
          {t.rename}
        </Button>
        <ActionIcon variant="default" size={36} aria-label={t.delete(view.name)} onClick={remove}>
          <IconTrash size={16} aria-hidden />
        </ActionIcon>
      </Group>
      <Group gap="md" mt={6}>
        {mayShare && isOwn && (
          <Checkbox
            size="xs"
            label={t.share}
            aria-label={t.shareNamed(view.name)}
            checked={isShared}
            onChange={({ currentTarget }) => share(currentTarget.checked)}
          />
        )}
        {search !== null && (
          <Button
            variant="subtle"
            size="compact-sm"
            aria-label={t.replaceNamed(view.name)}
            onClick={() => replace(search)}
          >
            {t.replace}
          </Button>
        )}
      </Group>
    </form>
  )
}
