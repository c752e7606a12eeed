// The interface, typed off its tables by hand and sharing nothing with the source: what the document
// says about the five operations must equal this.

const int32 = { type: 'integer', format: 'int32', minimum: -2147483648, maximum: 2147483647 }
const text = { type: 'string' }
const uuid = { type: 'string', format: 'uuid' }
const word = (...words: string[]) => ({ type: 'string', enum: words })
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const listOf = (items: object) => ({ type: 'array', items })

interface ExpectedSchema {
  readonly required: readonly string[]
  readonly properties: Readonly<Record<string, object>>
}

export const expectedSchemas: Readonly<Record<string, ExpectedSchema>> = {
  Conversion: {
    required: ['user_id', 'transaction_id', 'site_id', 'publisher_id', 'currency', 'products'],
    properties: {
      user_id: { type: 'string', maxLength: 128 },
      user_logged_in_id: { type: 'string', minLength: 1, maxLength: 128 },
      transaction_id: { type: 'string', maxLength: 64 },
      site_id: int32,
      publisher_id: int32,
      currency: { type: 'string', maxLength: 3 },
      // The upper bound is ours: the interface names none.
      products: { ...listOf(ref('Product')), minItems: 1, maxItems: 10_000 },
    },
  },
  Product: {
    required: ['gtin', 'price', 'quantity'],
    properties: {
      gtin: { type: 'string', maxLength: 60 },
      group_id: { type: 'string', maxLength: 60 },
      brand: { type: 'string', maxLength: 128 },
      price: { type: 'number', format: 'double' },
      quantity: int32,
    },
  },
  SpaProductReportRequest: {
    required: ['startDate', 'endDate'],
    properties: {
      // The upper bound is ours.
      filters: { ...listOf(ref('SpaProductReportFilter')), maxItems: 100 },
      startDate: { type: 'string', format: 'date' },
      endDate: { type: 'string', format: 'date' },
      attributionProfile: word('IMP_1_DAY_CLK_14_DAYS', 'IMP_1_DAY', 'CLK_14_DAYS'),
      page: { type: 'integer', format: 'int32', minimum: 0, maximum: 1000 },
      limit: { type: 'integer', format: 'int32', minimum: 1, maximum: 10000 },
      sortType: word('ASC', 'DESC'),
      dateBreakdown: { type: 'boolean' },
      orderBy: word(
        'GTIN',
        'PRODUCT_TITLE',
        'BRAND',
        'MARKET',
        'PUBLISHER_ID',
        'PUBLISHER_NAME',
        'CAMPAIGN_ID',
        'CAMPAIGN_NAME',
        'AD_GROUP_ID',
        'AD_GROUP_NAME',
        'DATE',
        'IMPRESSIONS',
        'CLICKS',
        'LOADS',
        'CONVERSIONS',
        'UNITS_SOLD',
        'CLICK_THROUGH_RATE',
        'CONVERSION_RATE',
        'CONVERSION_VALUE',
        'AD_SPEND_REVENUE',
        'COST_PER_CLICK',
        'RETURN_ON_AD_SPEND'
      ),
    },
  },
  SpaProductReportFilter: {
    // The interface requires neither; a filter without them has no meaning. It calls an element an object
    // and leaves its shape open: ours has a value. The upper bound is ours.
    required: ['field', 'values'],
    properties: {
      field: word('GTIN', 'PRODUCT_TITLE', 'BRAND', 'MARKET'),
      values: {
        ...listOf({
          anyOf: [
            text,
            { type: 'number' },
            {
              type: 'object',
              required: ['value'],
              properties: { value: { anyOf: [text, { type: 'number' }] } },
              additionalProperties: true,
            },
          ],
        }),
        maxItems: 10_000,
      },
    },
  },
  CreativeRequest: {
    required: ['creativeSizeId', 'assetId'],
    properties: { creativeSizeId: { ...int32, minimum: 1 }, assetId: uuid },
  },
  DisplayAdGroupAssetResponse: {
    required: [],
    properties: {
      creativeSizeId: int32,
      width: int32,
      height: int32,
      fileName: text,
      assetId: uuid,
      assetUrl: text,
      advertised: { type: 'boolean' },
      altText: text,
      backgroundColor: text,
      callToAction: text,
      adCopy: text,
      type: word('IMAGE', 'HTML_IMAGE_LINK', 'HTML_VIDEO_LINK'),
      link: text,
    },
  },
  SiteLocations: {
    required: [],
    properties: { site: ref('SiteDetails'), locations: listOf(ref('Location')) },
  },
  SiteDetails: {
    required: [],
    properties: {
      id: int32,
      name: text,
      type: word('DESKTOP', 'MOBILE_WEB', 'MOBILE_APP', 'TABLET_APP', 'EMAIL'),
    },
  },
  Location: {
    required: [],
    properties: {
      type: word('DISPLAY', 'PLATFORM_PRODUCT', 'FULL_PRODUCT'),
      location: word(
        'CATEGORY_PAGE',
        'SEARCH_PAGE',
        'HOME_PAGE',
        'PRODUCT_PAGE',
        'CHECKOUT',
        'MINI_SEARCH',
        'EMAIL',
        'EMAIL_ABANDONED_CART'
      ),
      pagePosition: word(
        'MAIN_GRID',
        'CAROUSEL',
        'BELOW_THE_FOLD',
        'ABOVE_THE_FOLD',
        'L1',
        'L2',
        'L3',
        'L4'
      ),
    },
  },
  ExceptionResponse: { required: [], properties: { messages: listOf(text) } },
}

interface ExpectedOperation {
  readonly method: string
  readonly path: string
  readonly server: string
  readonly isPublic: boolean
  readonly parameters: readonly object[]
  readonly body: object | null
  /** By status: the schema of the body, or the media type where there is none of ours. */
  readonly responses: Readonly<Record<string, object | null>>
}

const exception = ref('ExceptionResponse')
const path = (name: string, schema: object) => ({ name, in: 'path', required: true, schema })
const query = (name: string, required: boolean, schema: object) => ({
  name,
  in: 'query',
  required,
  schema,
})

export const expectedOperations: readonly ExpectedOperation[] = [
  {
    method: 'post',
    path: '/conversion',
    server: 'tracking',
    isPublic: true,
    parameters: [],
    body: ref('Conversion'),
    responses: { 200: { type: 'object', properties: {} }, 400: exception },
  },
  {
    method: 'post',
    path: '/impression/{trackingData}',
    server: 'tracking',
    isPublic: true,
    parameters: [path('trackingData', text)],
    body: null,
    responses: { 200: { type: 'object', properties: {} }, 400: exception, 404: exception },
  },
  {
    method: 'post',
    path: '/v2/advertisers/{advertiserId}/reports/spa/product.csv',
    server: 'campaign',
    isPublic: false,
    parameters: [path('advertiserId', int32), query('locale', false, text)],
    body: ref('SpaProductReportRequest'),
    responses: { 200: text, 401: exception, 403: exception, 404: exception, 422: exception },
  },
  {
    method: 'post',
    path: '/display/v2/advertisers/{advertiserId}/campaigns/{campaignId}/display/ad-groups/{adGroupId}/assets',
    server: 'campaign',
    isPublic: false,
    parameters: [
      path('advertiserId', int32),
      path('campaignId', int32),
      path('adGroupId', int32),
      { name: 'accept', in: 'header', required: false, schema: word('application/json') },
    ],
    body: ref('CreativeRequest'),
    responses: { 201: ref('DisplayAdGroupAssetResponse'), 401: exception, 403: exception },
  },
  {
    method: 'get',
    path: '/v2/advertisers/{advertiserId}/eligible/site-locations',
    server: 'campaign',
    isPublic: false,
    parameters: [
      path('advertiserId', int32),
      query('publisherId', true, int32),
      query('marketId', true, int32),
      query('adGroupType', false, word('DISPLAY', 'SPA', 'SPONSORED_BRAND')),
    ],
    body: null,
    responses: {
      200: listOf(ref('SiteLocations')),
      401: exception,
      403: exception,
      404: exception,
      422: exception,
    },
  },
]
