import { Button, Checkbox, MultiSelect, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listContainerTagsOptions } from '#client/@tanstack/react-query.gen'
import type { ContainerTags as Tags } from '#client/types.gen'
import { STALE_MS } from '../../api/queries.ts'
import { asData, Data } from '../../components/data-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { messages } from '../../messages.ts'
import type { DeploymentDraft } from './tag-deployment.ts'

type Selected = DeploymentDraft['selectedTags']

interface TagsProps {
  /** Path of the container: `accounts/6/containers/71`. */
  path: string
  selected: Selected
  choose(selected: Selected): void
}

/**
 * Selects the container's tags that are reported by name. The tags are loaded on request, because Google limits the
 * number of calls.
 */
export function ContainerTags({ path, selected, choose }: TagsProps) {
  const [loadedPath, load] = useState<string | null>(null)
  const t = messages.integrations.deploy
  return (
    <Stack gap="sm">
      <Text fz="sm">{selected === null ? t.allTags : t.someTags}</Text>
      {loadedPath === path ? (
        <Listed path={path} selected={selected} choose={choose} />
      ) : (
        <Button variant="default" w="fit-content" onClick={() => load(path)}>
          {t.loadTags}
        </Button>
      )}
    </Stack>
  )
}

function Listed({ path, ...rest }: TagsProps) {
  const query = useQuery({
    ...listContainerTagsOptions({ query: { containerPath: path } }),
    staleTime: STALE_MS.dictionary,
  })
  return (
    <QueryState
      query={query}
      isEmpty={({ tags }) => tags.length === 0}
      empty={<Text>{messages.integrations.deploy.noTags}</Text>}
    >
      {(list) => <TagTable list={list} {...rest} />}
    </QueryState>
  )
}

function TagTable({ list: { tags, variables }, selected, choose }: Omit<TagsProps, 'path'> & { list: Tags }) {
  const t = messages.integrations.deploy
  const names = variables.map(({ name }) => name)
  const toggle = (tagId: string, isOn: boolean) => {
    const { [tagId]: _, ...others } = selected ?? {}
    const next = isOn ? { ...others, [tagId]: [] } : others
    choose(Object.keys(next).length === 0 ? null : next)
  }
  return (
    <SimpleTable
      name={t.tags}
      rows={tags.filter(({ isService }) => !isService)}
      keyOf={({ tagId }) => tagId}
      columns={[
        {
          head: t.tag,
          cell: ({ tagId, name }) => (
            <Checkbox
              label={<Data>{name}</Data>}
              checked={selected !== null && tagId in selected}
              onChange={({ currentTarget }) => toggle(tagId, currentTarget.checked)}
            />
          ),
        },
        {
          head: t.type,
          cell: ({ displayType, paused }) => (
            <>
              <Data>{displayType}</Data> {paused && t.paused}
            </>
          ),
        },
        {
          head: t.variables,
          cell: ({ tagId, name }) => (
            <MultiSelect
              aria-label={t.variablesOf(name)}
              miw={200}
              data={[...new Set(names)]}
              renderOption={asData}
              value={[...(selected?.[tagId] ?? [])]}
              onChange={(chosen) => choose({ ...selected, [tagId]: chosen })}
              disabled={selected === null || !(tagId in selected)}
              searchable
            />
          ),
        },
      ]}
    />
  )
}
