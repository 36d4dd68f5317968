import { expect, test } from 'bun:test'
import type { CauseList, Issue } from '#client/types.gen'
import { groupByCause } from './group-by-cause.ts'

const issues = (ids: string) => ids.split('').map((id) => ({ id }) as Issue)
const cause = (title: string, ids: string, kind = 'release') =>
  ({ kind, title, issueIds: ids.split('') }) as CauseList['causes'][number]

test.each<[string, string, CauseList['causes'], string[]]>([
  ['no causes', 'abc', [], [': a', ': b', ': c']],
  ['one cause of two', 'abc', [cause('release', 'ac')], ['release: ac', ': b']],
  ['a cause of one groups nothing', 'ab', [cause('tag', 'a')], [': a', ': b']],
  ['the tag itself groups nothing', 'ab', [cause('Meta on Shop', 'ab', 'tag')], [': a', ': b']],
  ['issues that are not shown still count', 'ab', [cause('release', 'az')], ['release: a', ': b']],
  ['the gravest cause keeps an issue of two', 'ab', [cause('first', 'ab'), cause('second', 'bz')], ['first: ab']],
])('%s', (_name, shown, causes, groups) => {
  const found = groupByCause(issues(shown), causes)
  expect(found.map(({ cause, issues }) => `${cause?.title ?? ''}: ${issues.map(({ id }) => id).join('')}`)).toEqual(
    groups,
  )
})
