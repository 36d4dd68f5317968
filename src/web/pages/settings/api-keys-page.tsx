import { Button, Checkbox, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listKeysInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { createKey, revokeKey } from '#client/sdk.gen'
import type { Key } from '#client/types.gen'
import { KEY_SCOPES, type KeyScope } from '../../../contract/key-scopes.ts'
import { PAGE_SIZE } from '../../api/pagination.ts'
import { invalidate } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Code, Data } from '../../components/data-text.tsx'
import { Form } from '../../components/form.tsx'
import { OneTimeSecret } from '../../components/one-time-secret.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useFormFields } from '../../components/use-form-fields.ts'
import type { PagedQuery } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { SettingsLayout } from './settings-layout.tsx'

/** `/settings/keys`: API keys. A secret is shown once. */
export function ApiKeysPage() {
  const query = useInfiniteQuery(listKeysInfiniteOptions({ query: { limit: PAGE_SIZE } }))
  const [isMaking, make] = useState(false)
  // Kept outside the dialog, so that the secret is shown even if the dialog is closed before the response arrives.
  const [secret, show] = useState<string | null>(null)
  const close = () => {
    make(false)
    show(null)
  }
  const [revoked, revoke] = useState<Key | null>(null)
  const t = messages.settings.keys
  const may = useHasRole('viewer')
  const remove = async ({ id, name }: Key) => {
    await revokeKey({ path: { id } })
    await invalidate('listKeys')
    notices.say(t.revoked(name))
  }
  const create = may && <Button onClick={() => make(true)}>{t.create}</Button>
  return (
    <SettingsLayout name="keys" acts={create}>
      <RoleNotice needs="viewer" what={t.restrictedAction} />
      <Text c="dimmed" mb="md">
        {t.intro}
      </Text>
      <QueryState query={query} isEmpty={({ pages }) => pages[0]?.keys.length === 0} empty={<Text>{t.none}</Text>}>
        {({ pages }) => (
          <KeyTable keys={pages.flatMap(({ keys }) => keys)} pages={query} revoke={may ? revoke : null} />
        )}
      </QueryState>
      <Modal
        opened={isMaking || secret !== null}
        onClose={close}
        title={t.create}
        closeButtonProps={{ 'aria-label': messages.shell.close }}
        closeOnClickOutside={false}
      >
        {secret === null ? (
          <NewKeyForm show={show} />
        ) : (
          <OneTimeSecret label={t.secret} hint={t.secretHint} value={secret} button={t.stored} close={close} />
        )}
      </Modal>
      <ConfirmDialog
        close={() => revoke(null)}
        confirmation={
          revoked && {
            title: t.revokeTitle,
            sentence: (
              <>
                <Data>{revoked.name}</Data>
                <br />
                {t.revokeHint}
              </>
            ),
            button: t.revokeButton,
            action: () => remove(revoked),
          }
        }
      />
    </SettingsLayout>
  )
}

interface KeyTableProps {
  keys: readonly Key[]
  pages: PagedQuery
  revoke: ((key: Key) => void) | null
}

function KeyTable({ keys, pages, revoke }: KeyTableProps) {
  const t = messages.settings.keys
  return (
    <SimpleTable
      name={messages.settings.pages.keys}
      rows={keys}
      pages={pages}
      keyOf={({ id }) => id}
      columns={[
        { head: messages.settings.fields.name, cell: ({ name }) => <Data>{name}</Data> },
        { head: t.lastCharacters, cell: ({ secretTail }) => <Code>{`…${secretTail}`}</Code> },
        { head: t.permissions, cell: ({ scopes }) => scopes.map((scope) => t.scopeNames[scope]).join(' · ') },
        { head: t.expires, cell: ({ expiresAt }) => <TimeAgo at={expiresAt} missing={messages.displayNames.never} /> },
        {
          head: t.lastUsed,
          cell: ({ lastUsedAt }) => <TimeAgo at={lastUsedAt} missing={messages.displayNames.never} />,
        },
        {
          head: messages.settings.actions,
          isHeadHidden: true,
          cell: (key) =>
            revoke && (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={t.revokeNamed(key.name)}
                onClick={() => revoke(key)}
              >
                {t.revoke}
              </Button>
            ),
        },
      ]}
    />
  )
}

type Expiry = keyof typeof messages.settings.keys.expiries
const NEW_KEY = { name: '', expiresInDays: '90' as Expiry, readOnly: false, scopes: [] as KeyScope[] }
/** The scopes that limit a key. */
const LIMITED_SCOPES = KEY_SCOPES.filter((scope) => scope !== 'all')

function NewKeyForm({ show }: { show(secret: string): void }) {
  const t = messages.settings.keys
  const { values, field, check, set, sending } = useFormFields(
    NEW_KEY,
    async ({ expiresInDays: expires, ...fields }) => {
      const expiresInDays = expires === 'never' ? null : Number(expires)
      const { name, readOnly, scopes } = fields
      const limits = readOnly ? { readOnly } : scopes.length > 0 ? { scopes } : {}
      show((await createKey({ body: { name, expiresInDays, ...limits } })).data.secret)
      await invalidate('listKeys')
    },
  )
  return (
    <Form submission={sending} button={t.createButton}>
      <Stack gap="md">
        <TextInput label={messages.settings.fields.name} {...field('name')} required maxLength={200} data-autofocus />
        <NativeSelect
          label={t.expires}
          {...field('expiresInDays')}
          data={Object.entries(t.expiries).map(([value, label]) => ({ value, label }))}
        />
        <Checkbox label={t.readOnly} {...check('readOnly')} />
        {!values.readOnly && (
          <Checkbox.Group
            label={t.scopes}
            description={t.scopesHint}
            value={values.scopes}
            onChange={(scopes) => set({ scopes: scopes as KeyScope[] })}
            error={sending.errorOf('scopes')}
          >
            <Stack gap="xs" mt="xs">
              {LIMITED_SCOPES.map((scope) => (
                <Checkbox key={scope} value={scope} label={t.scopeNames[scope]} />
              ))}
            </Stack>
          </Checkbox.Group>
        )}
      </Stack>
    </Form>
  )
}
