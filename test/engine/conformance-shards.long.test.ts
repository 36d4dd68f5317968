import { testConformance } from './conformance.ts'

testConformance({ events: 20_000, shards: 2 })
