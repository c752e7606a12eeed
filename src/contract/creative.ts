import { Type } from 'typebox'
import { closed } from './closed.ts'
import { int32, uuidText, wordOf, type Of } from './fields.ts'
import { compileParser } from './validate.ts'

export const creativeTypes = ['IMAGE', 'HTML_IMAGE_LINK', 'HTML_VIDEO_LINK'] as const

export const creativeRequestSchema = closed(
  Type.Object(
    { creativeSizeId: int32({ minimum: 1 }), assetId: uuidText() },
    { title: 'CreativeRequest' }
  )
)

export const displayAdGroupAssetResponseSchema = Type.Object(
  {
    creativeSizeId: Type.Optional(int32()),
    width: Type.Optional(int32()),
    height: Type.Optional(int32()),
    fileName: Type.Optional(Type.String()),
    assetId: Type.Optional(uuidText()),
    assetUrl: Type.Optional(Type.String()),
    advertised: Type.Optional(Type.Boolean()),
    altText: Type.Optional(Type.String()),
    backgroundColor: Type.Optional(Type.String()),
    callToAction: Type.Optional(Type.String()),
    adCopy: Type.Optional(Type.String()),
    type: Type.Optional(wordOf(creativeTypes)),
    link: Type.Optional(Type.String()),
  },
  { title: 'DisplayAdGroupAssetResponse' }
)

export type CreativeRequest = Of<typeof creativeRequestSchema>
export type DisplayAdGroupAssetResponse = Of<typeof displayAdGroupAssetResponseSchema>

/** Shape only: whether the size and the asset exist and agree is for the catalog to say. */
export const parseCreativeRequest = compileParser(creativeRequestSchema)
