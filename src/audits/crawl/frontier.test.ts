import { describe, expect, test } from 'bun:test'
import { Frontier } from './crawl.ts'

const SHOP = 'https://shop.example'

function frontierOf(paths: readonly string[], isWanted: (address: string) => boolean = () => true) {
  const frontier = new Frontier(isWanted)
  for (const path of paths) frontier.add(SHOP + path)
  return frontier
}

const pathsOf = (frontier: Frontier) => frontier.level().map((address) => address.replace(SHOP, ''))

describe('a level of the crawl', () => {
  test('contains each URL added since the previous level once', () => {
    const frontier = frontierOf(['/a', '/b', '/a'])
    expect(frontier.waiting).toBe(2)
    expect(pathsOf(frontier)).toEqual(['/a', '/b'])
    frontier.add(`${SHOP}/a`)
    frontier.add(`${SHOP}/c`)
    expect(pathsOf(frontier)).toEqual(['/c'])
    expect(pathsOf(frontier)).toEqual([])
  })

  test('alternates between folders', () => {
    const shoes = ['/shoe/1', '/shoe/2', '/shoe/3', '/shoe/4']
    expect(pathsOf(frontierOf([...shoes, '/hat/1', '/hat/2', '/about']))).toEqual([
      '/shoe/1',
      '/hat/1',
      '/about',
      '/shoe/2',
      '/hat/2',
      '/shoe/3',
      '/shoe/4',
    ])
  })

  test('excludes unwanted URLs, except start pages', () => {
    const frontier = frontierOf(['/a', '/b'], (address) => !address.endsWith('/b'))
    frontier.start(`${SHOP}/b`)
    expect(pathsOf(frontier)).toEqual(['/a', '/b'])
  })

  test('contains at most the maximum number of URLs of each family', () => {
    const months = Array.from({ length: 1200 }, (_, n) => `/calendar/${2000 + Math.floor(n / 12)}/${(n % 12) + 1}`)
    const filters = Array.from({ length: 1000 }, (_, n) => `/list?color=${n}&size=${n}`)
    const items = Array.from({ length: 1000 }, (_, n) => `/item?id=${n}`)
    const plain = Array.from({ length: 1000 }, (_, n) => `/item/${n}`)
    const paths = pathsOf(frontierOf([...months, ...filters, ...items, ...plain]))
    const count = (start: string) => paths.filter((path) => path.startsWith(start)).length
    expect(['/calendar/', '/list?', '/item?', '/item/'].map(count)).toEqual([24, 20, 500, 1000])
  })
})

test('the final URL of a page is not visited again', () => {
  const frontier = frontierOf([])
  expect(frontier.isNew(`${SHOP}/end`)).toBe(true)
  expect(frontier.isNew(`${SHOP}/end`)).toBe(false)
  frontier.add(`${SHOP}/end`)
  expect(frontier.waiting).toBe(0)
})
